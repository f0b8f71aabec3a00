import { render } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { getMessage } from '../platform/sandbox-error.ts';
import { Accounts } from './accounts.tsx';
import { Faults } from './faults.tsx';
import { LivePage, type PageState } from './live.ts';
import { Log } from './log.tsx';
import { Counterparties, Entities } from './parties.tsx';
import { isRecordId, panelTitles, RunContext, type Run } from './parts.tsx';
import { RecordView } from './record.tsx';
import { Transfers } from './transfers.tsx';
import { ClockAndState } from './clock-and-state.tsx';

const connections = {
  connecting: 'connecting',
  live: 'live',
  lost: 'not reachable, trying again',
};

interface Notice {
  readonly text: string;
  /** An error stays until the user closes it. */
  readonly isError?: boolean;
}

/**
 * Returns the id of the record in the hash of the page's address, such as #acc_000001, and a
 * function that removes the hash.
 */
function useRecordId() {
  const readId = () => {
    const id = location.hash.slice(1);
    return isRecordId(id) ? id : undefined;
  };
  const [id, setId] = useState(readId);
  useEffect(() => {
    const onChange = () => {
      setId(readId());
    };
    addEventListener('hashchange', onChange);
    return () => {
      removeEventListener('hashchange', onChange);
    };
  }, []);
  const close = () => {
    // Remove the hash, because an empty hash in the address would scroll the page to its top.
    history.replaceState(null, '', location.pathname + location.search);
    setId(undefined);
  };
  return [id, close] as const;
}

function Header({ connection }: Pick<PageState, 'connection'>) {
  return (
    <header>
      <h1>Payments sandbox</h1>
      <p class={`connection ${connection}`}>{connections[connection]}</p>
      <code class="address">{location.origin}/v0</code>
      <nav aria-label="Parts of the page">
        {Object.entries(panelTitles).map(([id, title]) => (
          <a key={id} href={`#${id}`}>
            {title}
          </a>
        ))}
      </nav>
    </header>
  );
}

/** The whole page. After each action a notice shows the result, and the state is read again. */
function App({ page, pageState }: { page: LivePage; pageState: PageState }) {
  const [notice, setNotice] = useState<Notice>();
  useEffect(() => {
    if (notice === undefined || notice.isError === true) return undefined;
    // A success disappears after six seconds.
    const timer = setTimeout(setNotice, 6_000, undefined);
    return () => {
      clearTimeout(timer);
    };
  }, [notice]);
  const showError = (problem: unknown) => {
    setNotice({ text: getMessage(problem), isError: true });
  };
  const { connection, state, faults, calls, entryCount, hasOlder } = pageState;
  const run = useCallback<Run>(
    async (text, action, onError = showError) => {
      try {
        await action();
        setNotice({ text });
        return true;
      } catch (problem) {
        setNotice(undefined);
        onError(problem);
        return false;
      } finally {
        await page.refresh();
        // The notice can cover a form at the bottom of the window, so scroll the form into view.
        document.activeElement?.closest('form')?.scrollIntoView({ block: 'nearest' });
      }
    },
    [page],
  );
  const [recordId, closeRecord] = useRecordId();
  const noticeView = (
    <div class="notice">
      <p role="status">{notice?.isError === true ? '' : notice?.text}</p>
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
  );
  return (
    <RunContext.Provider value={run}>
      <Header connection={connection} />
      <main>
        {state !== undefined && (
          <>
            <div class="column">
              <Accounts accounts={state.accounts} entities={state.entities} />
              <Transfers
                transfers={state.transfers}
                accounts={state.accounts}
                counterparties={state.counterparties}
              />
            </div>
            <div class="column">
              <Log calls={calls} entryCount={entryCount} hasOlder={hasOlder} />
              <Faults faults={faults} />
              <ClockAndState offsetMs={state.clockOffsetMs} />
            </div>
            <div class="column across">
              <Entities entities={state.entities} />
              <Counterparties counterparties={state.counterparties} entities={state.entities} />
            </div>
          </>
        )}
      </main>
      {state !== undefined && recordId !== undefined ? (
        <RecordView
          id={recordId}
          state={state}
          calls={calls}
          hasOlder={hasOlder}
          onClose={closeRecord}
          notice={noticeView}
        />
      ) : (
        noticeView
      )}
    </RunContext.Provider>
  );
}

const page = new LivePage((pageState) => {
  render(<App page={page} pageState={pageState} />, document.body);
});
void page.start();
