import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Accounts } from './accounts.tsx';
import { Faults } from './faults.tsx';
import { LivePage, type PageState } from './live.ts';
import { Log } from './log.tsx';
import { Counterparties, Entities, Ibans } from './parties.tsx';
import { ActionsContext, type Actions } from './parts.tsx';
import { Transfers } from './transfers.tsx';
import { ClockAndState } from './clock-and-state.tsx';

const panels = [
  ['accounts', 'Accounts'],
  ['transfers', 'Transfers'],
  ['log', 'Log'],
  ['faults', 'Faults'],
  ['entities', 'Entities'],
  ['counterparties', 'Counterparties'],
  ['ibans', 'IBANs'],
  ['world', 'Clock and state'],
] as const;

const connections: Readonly<Record<PageState['connection'], string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'not reachable, trying again',
};

interface Notice {
  readonly text: string;
  readonly isError: boolean;
}

function Header({ connection }: Pick<PageState, 'connection'>) {
  return (
    <header>
      <h1>Payments sandbox</h1>
      <p class={`connection ${connection}`}>{connections[connection]}</p>
      <code class="address">{location.origin}/v0</code>
      <nav aria-label="Parts of the page">
        {panels.map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

function App({ page, pageState }: { page: LivePage; pageState: PageState }) {
  const [notice, setNotice] = useState<Notice>();
  useEffect(() => {
    if (notice === undefined || notice.isError) return undefined;
    const timer = setTimeout(setNotice, 6_000, undefined);
    return () => {
      clearTimeout(timer);
    };
  }, [notice]);
  const actions = useMemo<Actions>(
    () => ({
      async run(text, action) {
        try {
          await action();
          setNotice({ text, isError: false });
          return true;
        } catch (problem) {
          setNotice({
            text: problem instanceof Error ? problem.message : String(problem),
            isError: true,
          });
          return false;
        } finally {
          await page.refresh();
        }
      },
    }),
    [page],
  );
  const { state, faults, calls, balances, connection } = pageState;
  return (
    <ActionsContext.Provider value={actions}>
      <Header connection={connection} />
      <main>
        {state !== undefined && (
          <>
            <div class="column">
              <Accounts accounts={state.accounts} balances={balances} />
              <Transfers transfers={state.transfers} />
            </div>
            <div class="column">
              <Log calls={calls} />
              <Faults faults={faults} />
            </div>
            <div class="column across">
              <Entities entities={state.entities} />
              <Counterparties counterparties={state.counterparties} entities={state.entities} />
              <Ibans ibans={state.ibans} accounts={state.accounts} />
              <ClockAndState offsetMs={state.clockOffsetMs} />
            </div>
          </>
        )}
      </main>
      <div class="notice">
        <p role="status">{notice?.isError === false ? notice.text : ''}</p>
        <p role="alert">{notice?.isError === true ? notice.text : ''}</p>
        {notice?.isError === true && (
          <button
            type="button"
            onClick={() => {
              setNotice(undefined);
            }}
          >
            Close
          </button>
        )}
      </div>
    </ActionsContext.Provider>
  );
}

const page = new LivePage((pageState) => {
  render(<App page={page} pageState={pageState} />, document.body);
});
page.start();
