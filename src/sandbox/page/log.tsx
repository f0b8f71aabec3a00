import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { isObject } from '../../internal/objects.ts';
import type { SandboxFault } from '../faults/rule.ts';
import type { SandboxLogEntry } from '../log.ts';
import { getResult, isDelivery, isLost, type Call, type Result } from './attempts.ts';
import type { PageState } from './live.ts';
import { Badge, Empty, findRecordId, Json, Linked, Panel, Rows, useSearch } from './parts.tsx';

const tones: Readonly<Record<Result, string>> = {
  responded: 'good',
  rejected: 'bad',
  unknown: 'lost',
  'not delivered': 'lost',
};

/** How a fault lost the response of an attempt. */
const losses: Readonly<Partial<Record<SandboxFault['kind'], string>>> = {
  reset: 'reset',
  hang: 'no response',
  truncated_body: 'cut off',
  stalled_body: 'stalled',
  drop: 'dropped',
};

/** Describes the result of an attempt, with the status or the reason why the response was lost. */
function describeAttempt(entry: SandboxLogEntry): string {
  const { status, fault } = entry;
  const result = getResult(entry);
  if (!isLost(entry)) return `${result} ${status}`;
  const loss = fault && losses[fault];
  if (loss !== undefined) return `${result}: ${loss}`;
  return isDelivery(entry) ? result : `${result}: caller aborted`;
}

/** What a call has created, and the fields of its body by which a reader knows it. */
function describeSubject([first, ...others]: Call['attempts']): string {
  const created = [first, ...others].flatMap((entry) => entry.created ?? []);
  if (isDelivery(first)) return ''; // Its row has the id of the record.
  const body: Readonly<Record<string, unknown>> = isObject(first.body) ? { ...first.body } : {};
  const named = [body['description'], body['amount'], body['name'], body['email']];
  return [...created.map((id) => `created ${id}`), ...named]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' · ');
}

const formatTime = ({ time }: SandboxLogEntry) => time.slice(11, 23);

type Attempts = Pick<Call, 'attempts'>;

/** Says that requests of the sandbox's log are missing on the page. */
export const Older = () => (
  <Empty>
    Older requests are not on this page, but in <a href="/_sandbox/log">the whole log</a>.
  </Empty>
);

export const notLogged = 'What you do on this page is no request, and not in the log.';

/** Shows one attempt of a call. The response of the last attempt is unfolded. */
function Attempt({ entry, at, attempts }: { entry: SandboxLogEntry; at: number } & Attempts) {
  const [first] = attempts;
  const elapsedMs = Date.parse(entry.time) - Date.parse(first.time);
  return (
    <li class="attempt">
      <span class="number">Attempt {at + 1}</span>
      <time dateTime={entry.time} title={entry.time}>
        sent {at === 0 ? formatTime(entry) : `${elapsedMs} ms later`}
      </time>
      <Badge text={describeAttempt(entry)} tone={tones[getResult(entry)]} />
      <small>
        {entry.ms ?? '?'} ms
        {entry.fault !== undefined && ` · fault ${entry.fault}`} · <code>{entry.requestId}</code>
        {entry.created !== undefined && <Linked text={` · created ${entry.created}`} />}
      </small>
      {entry.note !== undefined && <p class="note">{entry.note}</p>}
      {entry.response !== undefined && (
        <details class="response" open={at === attempts.length - 1}>
          <summary>Response</summary>
          <Json value={entry.response} />
        </details>
      )}
    </li>
  );
}

function CallDetails({ attempts }: Attempts) {
  const [first] = attempts;
  return (
    <div class="details">
      {Object.keys(first.query).length > 0 && <h3>Query</h3>}
      {Object.keys(first.query).length > 0 && <Json value={first.query} />}
      {first.body !== undefined && <h3>Body</h3>}
      {first.body !== undefined && <Json value={first.body} />}
      <ol>
        {attempts.map((entry, at) => (
          <Attempt key={entry.id} entry={entry} at={at} attempts={attempts} />
        ))}
      </ol>
    </div>
  );
}

/** A call in the log: one line, which unfolds to the request and its attempts. */
export const CallRow = memo(({ attempts }: Attempts) => {
  const [isOpen, setOpen] = useState(false);
  const [first] = attempts;
  const last = attempts.at(-1) ?? first;
  const subject = describeSubject(attempts);
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
            {formatTime(last)}
          </time>
          <span class="operation">
            <span class="request">
              <b>{first.method}</b> <code>{first.path}</code>
            </span>
            <small>
              {attempts.length > 1 && <b>{attempts.length} attempts · </b>}
              {first.operation ?? 'no operation'}
              {isDelivery(first) && ` · ${findRecordId(first.body)}`}
              {attempts.length === 1 && ` · ${last.ms ?? '?'} ms`}
            </small>
          </span>
          <span class="badges">
            {/* Only the latest attempts get a badge: two of a delivery, four of a request. */}
            {attempts.slice(isDelivery(first) ? -2 : -4).map((entry) => (
              <Badge key={entry.id} text={describeAttempt(entry)} tone={tones[getResult(entry)]} />
            ))}
          </span>
          {subject !== '' && <span class="subject">{subject}</span>}
        </summary>
        {isOpen && <CallDetails attempts={attempts} />}
      </details>
    </li>
  );
});

type LogProps = Pick<PageState, 'calls' | 'entryCount' | 'hasOlder'>;

/** The calls that pass the search, latest first, up to `maxRows`. */
export const Log = memo(({ calls, entryCount, hasOlder }: LogProps) => {
  const { field, isShown } = useSearch<Call>('a request', 'id, path, text', ({ text }) => text);
  const shownCalls = calls.filter(isShown);
  return (
    <Panel id="log" count={entryCount} tools={field}>
      <Rows
        noun="request"
        isEmpty={calls.length === 0}
        shown={shownCalls}
        renderRow={({ id, attempts }) => <CallRow key={id} attempts={attempts} />}
      />
      {calls.length === 0 && <Empty>{notLogged}</Empty>}
      {hasOlder && <Older />}
    </Panel>
  );
});
