import { render } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Accounts } from './accounts.tsx';
import { Faults } from './faults.tsx';
import { Live, type World } from './live.ts';
import { Log } from './log.tsx';
import { Counterparties, Entities, Ibans } from './parties.tsx';
import { DeedsContext, type Deeds } from './parts.tsx';
import { Transfers } from './transfers.tsx';
import { WorldPanel } from './clock-and-state.tsx';

const places = [
  ['accounts', 'Accounts'],
  ['transfers', 'Transfers'],
  ['log', 'Log'],
  ['faults', 'Faults'],
  ['entities', 'Entities'],
  ['counterparties', 'Counterparties'],
  ['ibans', 'IBANs'],
  ['world', 'Clock and state'],
] as const;

const connections: Readonly<Record<World['connection'], string>> = {
  connecting: 'connecting',
  live: 'live',
  lost: 'not reachable, trying again',
};

interface Said {
  readonly text: string;
  readonly isError: boolean;
}

function Header({ connection }: Pick<World, 'connection'>) {
  return (
    <header>
      <h1>Payments sandbox</h1>
      <p class={`connection ${connection}`}>{connections[connection]}</p>
      <code class="address">{location.origin}/v0</code>
      <nav aria-label="Parts of the page">
        {places.map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

function App({ live, world }: { live: Live; world: World }) {
  const [said, setSaid] = useState<Said>();
  useEffect(() => {
    if (said === undefined || said.isError) return undefined;
    const timer = setTimeout(setSaid, 6_000, undefined);
    return () => {
      clearTimeout(timer);
    };
  }, [said]);
  const deeds = useMemo<Deeds>(
    () => ({
      async run(text, deed) {
        try {
          await deed();
          setSaid({ text, isError: false });
          return true;
        } catch (problem) {
          setSaid({
            text: problem instanceof Error ? problem.message : String(problem),
            isError: true,
          });
          return false;
        } finally {
          await live.refresh();
        }
      },
    }),
    [live],
  );
  const { state, faults, calls, balances, connection } = world;
  return (
    <DeedsContext.Provider value={deeds}>
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
              <WorldPanel offsetMs={state.clockOffsetMs} />
            </div>
          </>
        )}
      </main>
      <div class="said">
        <p role="status">{said?.isError === false ? said.text : ''}</p>
        <p role="alert">{said?.isError === true ? said.text : ''}</p>
        {said?.isError === true && (
          <button
            type="button"
            onClick={() => {
              setSaid(undefined);
            }}
          >
            Close
          </button>
        )}
      </div>
    </DeedsContext.Provider>
  );
}

const live = new Live((world) => {
  render(<App live={live} world={world} />, document.body);
});
live.start();
