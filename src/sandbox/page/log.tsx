import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { SandboxFault } from '../faults/rule.ts';
import type { SandboxLogEntry } from '../log.ts';
import { getResult, isDelivery, type Call, type Result } from './attempts.ts';
import { Badge, findRecordId, Json, Linked, Panel, Rows, useSearch } from './parts.tsx';

const tones: Readonly<Record<Result, string>> = {
  responded: 'good',
  rejected: 'bad',
  unknown: 'lost',
  lost: 'lost',
};

/** Why a fault lost the response of an attempt. */
const losses: Readonly<Partial<Record<SandboxFault['kind'], string>>> = {
  reset: 'lost: reset',
  hang: 'lost: no response',
  truncated_body: 'lost: cut off',
  stalled_body: 'lost: stalled',
  drop: 'lost: dropped',
};

/** Describes the result of an attempt, with the status or the reason why the response was lost. */
function describeAttempt(entry: SandboxLogEntry): string {
  const { status, fault } = entry;
  const result = getResult(entry);
  if (result !== 'lost') return `${result} ${status}`;
  const loss = fault && losses[fault];
  return loss ?? (isDelivery(entry) ? 'not delivered' : 'lost: caller aborted');
}

const formatTime = ({ time }: SandboxLogEntry) => time.slice(11, 23);

type Attempts = Pick<Call, 'attempts'>;

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
          <span class="request">
            <b>{first.method}</b> <code>{first.path}</code>
          </span>
          <span class="badges">
            {/* Only the latest attempts get a badge: two of a delivery, four of a request. */}
            {attempts.slice(isDelivery(first) ? -2 : -4).map((entry) => (
              <Badge key={entry.id} text={describeAttempt(entry)} tone={tones[getResult(entry)]} />
            ))}
          </span>
          <small>
            {attempts.length > 1 && <b>{attempts.length} attempts · </b>}
            {first.operation ?? 'no operation'}
            {isDelivery(first) && ` · ${findRecordId(first.body)}`}
            {attempts.length === 1 && ` · ${last.ms ?? '?'} ms`}
          </small>
        </summary>
        {isOpen && <CallDetails attempts={attempts} />}
      </details>
    </li>
  );
});

/** The calls that pass the search, latest first, up to `maxRows`. */
export const Log = memo(({ calls }: { calls: readonly Call[] }) => {
  const { field, isShown } = useSearch<Call>('a request', 'id, path, text', ({ text }) => text);
  const shownCalls = calls.filter(isShown);
  return (
    <Panel id="log" count={calls.length} tools={field}>
      <Rows
        noun="request"
        isEmpty={calls.length === 0}
        shown={shownCalls}
        renderRow={({ id, attempts }) => <CallRow key={id} attempts={attempts} />}
        hint=" calls are shown"
      />
    </Panel>
  );
});
