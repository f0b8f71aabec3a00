import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { SandboxChange } from '../platform/changes.ts';
import { idPrefixes, nouns, type Noun } from '../platform/ids.ts';
import type { SandboxState } from '../state.ts';
import { createRecordFilter } from './attempts.ts';
import { callControl, type PageState } from './live.ts';
import { CallRow, notLogged, Older } from './log.tsx';
import { Action, Empty, Json, Linked, maxRows } from './parts.tsx';
import { TransferActions, TransferStatus } from './transfers.tsx';

type Row = SandboxState[Noun][number];
interface Event {
  readonly time: string;
  readonly text: string;
}

function findRecord(state: SandboxState, id: string): Row | undefined {
  const noun = nouns.find((each) => id.startsWith(idPrefixes[each])) ?? 'transfers';
  const rows: readonly Row[] = state[noun];
  return rows.find((row) => row.id === id);
}

const formatValue = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value ?? null);

function describeChange({ type, before, after }: SandboxChange): string {
  if (before === null || after === null) return type.slice(type.indexOf('.') + 1);
  const old: Readonly<Record<string, unknown>> = { ...before };
  return Object.entries(after)
    .map(([name, value]) => [name, formatValue(old[name]), formatValue(value)] as const)
    .filter(([, from, to]) => from !== to)
    .map(([name, from, to]) => `${name}: ${from} → ${to}`)
    .join(', ');
}

/** Reads the changes of a record, oldest first. */
async function readTimeline(id: string, createdAt: string | undefined): Promise<Event[]> {
  const changes = JSON.parse(await callControl('GET', 'changes')) as SandboxChange[];
  const ownChanges = changes.filter(({ before, after }) => {
    const row = after ?? before;
    return row !== null && 'id' in row && row.id === id;
  });
  const events = ownChanges.map((change) => ({ time: change.time, text: describeChange(change) }));
  // An imported record has no change for its creation, so use the record's own `createdAt`.
  const isImported = ownChanges[0]?.before !== null && createdAt !== undefined;
  return isImported ? [{ time: createdAt, text: 'created' }, ...events] : events;
}

/** Lists the changes of a record, and reads them again whenever the record changes. */
function Timeline({ id, record }: { id: string; record: Row | undefined }) {
  const [events, setEvents] = useState<readonly Event[]>([]);
  // Each read of the state creates a new object, so compare the record by its JSON.
  const recordText = JSON.stringify(record);
  useEffect(() => {
    let isCurrent = true; // false once the page shows a later state of the record
    readTimeline(id, record?.createdAt).then(
      (timeline) => {
        if (isCurrent) setEvents(timeline);
      },
      () => {
        // No message here, because the page shows a lost connection when the log's stream ends.
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [id, recordText]);
  return (
    <ol class="timeline">
      {events.slice(-maxRows).map(({ time, text }, at) => (
        <li key={at}>
          <time dateTime={time}>{time.slice(0, 23).replace('T', ' ')}</time> <Linked text={text} />
        </li>
      ))}
    </ol>
  );
}

/** Shows a record by its id: its JSON, its timeline, and the calls that name the record. */
export function RecordView(props: {
  id: string;
  state: SandboxState;
  calls: PageState['calls'];
  hasOlder: boolean;
  onClose: () => void;
  /** The page's notice, inside the dialog because an open dialog disables everything outside. */
  notice: ComponentChildren;
}) {
  const { id, state, calls, hasOlder, onClose, notice } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const title = useRef<HTMLHeadingElement>(null);
  useLayoutEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
    // The link that the user followed is gone but the dialog stays open, so focus its title.
    title.current?.focus();
    dialog.current?.scrollTo(0, 0);
  }, [id]);
  const record = findRecord(state, id);
  const transfer = state.transfers.find((each) => each.id === id);
  const recordCalls = useMemo(() => calls.filter(createRecordFilter(id)), [calls, id]);
  return (
    <dialog ref={dialog} class="record" aria-labelledby="record-title" onClose={onClose}>
      <div class="panel-head">
        <h2 id="record-title" ref={title} tabIndex={-1}>
          {id}
        </h2>
        {transfer && <TransferStatus status={transfer.status} />}
        <div class="tools">
          {transfer && <TransferActions transfer={transfer} />}
          <Action label="Close" of={id} onClick={() => dialog.current?.close()} />
        </div>
      </div>
      <div class="record-parts">
        <section aria-labelledby="record-json">
          <h3 id="record-json">JSON</h3>
          {record === undefined ? (
            <Empty>No record has this id: it was deleted, or a reset removed it.</Empty>
          ) : (
            <Json value={record} />
          )}
        </section>
        <section aria-labelledby="record-timeline">
          <h3 id="record-timeline">Timeline</h3>
          <Timeline id={id} record={record} />
        </section>
      </div>
      <section aria-labelledby="record-calls" tabIndex={-1}>
        <h3 id="record-calls">Requests and deliveries</h3>
        {recordCalls.length === 0 && <Empty>None in the log. {notLogged}</Empty>}
        <ul class="rows calls">
          {recordCalls.slice(0, maxRows).map(({ id: callId, attempts }) => (
            <CallRow key={callId} attempts={attempts} />
          ))}
        </ul>
        {hasOlder && <Older />}
      </section>
      {notice}
    </dialog>
  );
}
