import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { SandboxLogEntry } from '../log.ts';
import { curlOf, fateOf, type Call, type Fate } from './attempts.ts';
import { Badge, Choice, Deed, Empty, mostRows, Panel, useDeeds } from './parts.tsx';

const tones: Readonly<Record<Fate, string>> = { answered: 'good', refused: 'bad', lost: 'lost' };

/** What happened to an attempt, in one word and what there is to say about it. */
function wordsOf(entry: SandboxLogEntry): string {
  const { status, fault } = entry;
  const fate = fateOf(entry);
  if (fate !== 'lost') return `${fate} ${status}`;
  switch (fault) {
    case 'reset':
      return 'lost: reset';
    case 'hang':
      return 'lost: no answer';
    case 'truncated_body':
      return 'lost: cut off';
    case 'stalled_body':
      return 'lost: stalled';
    default:
      return 'lost: caller left';
  }
}

type WithRawJson = JSON & { rawJSON?: (text: string) => unknown };

/** Readable JSON. A large integer keeps its digits. */
const pretty = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      typeof inner === 'bigint'
        ? ((JSON as WithRawJson).rawJSON?.(String(inner)) ?? String(inner))
        : inner,
    2,
  );

const timeOf = ({ time }: SandboxLogEntry) => time.slice(11, 23);

function Attempt(props: { entry: SandboxLogEntry; at: number; since: SandboxLogEntry }) {
  const { entry, at, since } = props;
  const later = Date.parse(entry.time) - Date.parse(since.time);
  return (
    <li class="attempt">
      <span class="number">Attempt {at + 1}</span>
      <time dateTime={entry.time} title={entry.time}>
        sent {at === 0 ? timeOf(entry) : `${later} ms later`}
      </time>
      <Badge text={wordsOf(entry)} tone={tones[fateOf(entry)]} />
      <small>
        {entry.ms ?? '?'} ms
        {entry.fault !== undefined && ` · fault ${entry.fault}`} · <code>{entry.requestId}</code>
      </small>
    </li>
  );
}

function Opened({ attempts }: Pick<Call, 'attempts'>) {
  const [first] = attempts;
  const { run } = useDeeds();
  const copy = () => {
    const text = curlOf(first, location.origin);
    void run('Copied as curl. The shell brings the key.', () =>
      navigator.clipboard.writeText(text),
    );
  };
  return (
    <div class="opened">
      <ol>
        {attempts.map((entry, at) => (
          <Attempt key={entry.id} entry={entry} at={at} since={first} />
        ))}
      </ol>
      {Object.keys(first.query).length > 0 && (
        <>
          <h3>Query</h3>
          <pre tabIndex={0}>{pretty(first.query)}</pre>
        </>
      )}
      <h3>Body</h3>
      {first.body === undefined ? (
        <Empty>None.</Empty>
      ) : (
        <pre tabIndex={0}>{typeof first.body === 'string' ? first.body : pretty(first.body)}</pre>
      )}
      <Deed label="Copy as curl" of={`${first.method} ${first.path}`} onClick={copy} />
    </div>
  );
}

const Row = memo(({ attempts }: Pick<Call, 'attempts'>) => {
  const [isOpen, setOpen] = useState(false);
  const [first] = attempts;
  const last = attempts.at(-1) ?? first;
  return (
    <li>
      <details
        class="call"
        onToggle={({ currentTarget }) => {
          setOpen(currentTarget.open);
        }}
      >
        <summary>
          <time dateTime={last.time} title={last.time}>
            {timeOf(last)}
          </time>
          <span class="request">
            <b>{first.method}</b> <code>{first.path}</code>
          </span>
          <span class="fates">
            {attempts.slice(-4).map((entry) => (
              <Badge key={entry.id} text={wordsOf(entry)} tone={tones[fateOf(entry)]} />
            ))}
          </span>
          <small>
            {attempts.length > 1 && <b>{attempts.length} attempts · </b>}
            {first.operation ?? 'no operation'}
            {attempts.length === 1 && ` · ${last.ms ?? '?'} ms`}
          </small>
        </summary>
        {isOpen && <Opened attempts={attempts} />}
      </details>
    </li>
  );
});

const shows: readonly (readonly [string, string, (call: Call) => boolean])[] = [
  ['all', 'All', () => true],
  ['writes', 'Writes', ({ attempts: [{ method }] }) => method !== 'GET'],
  [
    'failed',
    'With a failure',
    ({ attempts }) => attempts.some((one) => fateOf(one) !== 'answered'),
  ],
  ['retried', 'Retried', ({ attempts }) => attempts.length > 1],
];

export const Log = memo(({ calls }: { calls: readonly Call[] }) => {
  const [show, setShow] = useState('all');
  const [held, setHeld] = useState<readonly Call[]>();
  const fits = shows.find(([name]) => name === show)?.[2] ?? (() => true);
  const found = (held ?? calls).filter(fits);
  return (
    <Panel
      id="log"
      title="Log"
      count={calls.length}
      tools={
        <>
          <Choice
            label="Show"
            options={shows.map(([name, text]) => [name, text])}
            value={show}
            onPick={setShow}
          />
          <button
            type="button"
            aria-pressed={held !== undefined}
            onClick={() => {
              setHeld(held === undefined ? calls : undefined);
            }}
          >
            Pause
          </button>
        </>
      }
    >
      {found.length === 0 && (
        <Empty>{calls.length === 0 ? 'No request yet.' : 'No request fits.'}</Empty>
      )}
      <ul class="rows scroll">
        {found.slice(0, mostRows).map(({ id, attempts }) => (
          <Row key={id} attempts={attempts} />
        ))}
      </ul>
      {found.length > mostRows && (
        <Empty>
          The latest {mostRows} of {found.length} calls are shown.
        </Empty>
      )}
    </Panel>
  );
});
