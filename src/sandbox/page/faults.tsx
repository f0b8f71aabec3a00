import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { SandboxOperation } from '../api/calls.ts';
import type { SandboxFault, SandboxFaultRule } from '../faults/rule.ts';
import { ask, type World } from './live.ts';
import { Choice, Deed, Empty, Field, Form, Panel, useDeeds, type Fields } from './parts.tsx';

/** From a record, because the compiler then asks for every one. */
const operations = Object.keys({
  'transfers.create': true,
  'transfers.list': true,
  'transfers.get': true,
  'accounts.create': true,
  'accounts.list': true,
  'accounts.get': true,
  'accounts.update': true,
  'entities.create': true,
  'entities.list': true,
  'entities.get': true,
  'counterparties.list': true,
  'counterparties.get': true,
  'counterparties.delete': true,
  'ibans.list': true,
  'ibans.get': true,
  'ibans.delete': true,
  'settings.update': true,
  'instructions.build': true,
  'instructions.list': true,
  'transactions.list': true,
} satisfies Record<SandboxOperation, true>);

const kinds: Readonly<Record<SandboxFault['kind'], string>> = {
  status: 'an error status',
  reset: 'connection reset',
  hang: 'no answer, ever',
  delay: 'a late answer',
  html: 'a page of a proxy',
  truncated_body: 'half a body, cut off',
  stalled_body: 'half a body, then nothing',
  repeated_cursor: 'a cursor that repeats',
  empty_page: 'an empty page in between',
};

const hasMoment = (kind: string) => !['delay', 'repeated_cursor', 'empty_page'].includes(kind);

const numberOf = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/** The rule as the endpoint takes it; it says what is wrong with it. */
function ruleOf({ operation, kind, when, times, after, ...rest }: Fields): string {
  const { status, retryAfter, ms } = rest;
  return JSON.stringify({
    operation,
    times: times === 'always' ? times : numberOf(times),
    after: numberOf(after),
    fault: {
      kind,
      when,
      status: numberOf(status),
      retryAfter: numberOf(retryAfter),
      ms: numberOf(ms),
    },
  });
}

function sentenceOf({ operation, times, after, percent, fault }: SandboxFaultRule): string {
  const { kind } = fault;
  const said = [
    kinds[kind],
    'status' in fault && fault.status !== undefined ? String(fault.status) : '',
    'ms' in fault ? `after ${fault.ms} ms` : '',
    'when' in fault && fault.when !== undefined ? fault.when.replace('_', ' ') : '',
    percent === undefined ? '' : `for ${Number(percent.toFixed(2))} % by chance`,
    after === undefined || after === 0 ? '' : `after ${after} more`,
    times === 'always' ? 'always' : `${times ?? 1} ×`,
  ];
  return `${operation === '*' ? 'every request' : operation}: ${said.filter(Boolean).join(', ')}`;
}

/** The one way to take one out is to take all out and put the others in again. */
async function remove(rule: SandboxFaultRule): Promise<void> {
  const text = JSON.stringify(rule);
  const rules = JSON.parse(await ask('GET', 'faults')) as SandboxFaultRule[];
  const at = rules.findIndex((each) => JSON.stringify(each) === text);
  if (at < 0) throw new Error('This fault has struck meanwhile.');
  await ask('DELETE', 'faults');
  for (const other of rules.toSpliced(at, 1)) await ask('POST', 'faults', JSON.stringify(other));
}

export const Faults = memo(({ faults }: Pick<World, 'faults'>) => {
  const [kind, setKind] = useState('status');
  const { run } = useDeeds();
  return (
    <Panel
      id="faults"
      title="Faults"
      count={faults.length}
      tools={
        faults.length > 0 && (
          <Deed
            label="Remove all"
            onClick={() => {
              void run('No fault any more.', () => ask('DELETE', 'faults'));
            }}
          />
        )
      }
    >
      {faults.length === 0 && <Empty>Every request is answered as it should be.</Empty>}
      <ul class="rows">
        {faults.map((rule, at) => (
          <li key={`${at} ${JSON.stringify(rule.fault)}`} class="fault">
            <span>{sentenceOf(rule)}</span>
            <Deed
              label="Remove"
              of={`the fault of ${sentenceOf(rule)}`}
              onClick={() => {
                void run('The fault is gone.', () => remove(rule));
              }}
            />
          </li>
        ))}
      </ul>
      <Form
        label="Add a fault"
        submit="Add fault"
        onFields={async (fields) => {
          await run('The fault waits for its request.', () =>
            ask('POST', 'faults', ruleOf(fields)),
          );
          return false;
        }}
      >
        <Choice
          label="Operation"
          name="operation"
          options={[...operations.map((each) => [each, each] as const), ['*', 'every request']]}
        />
        <Choice
          label="Fault"
          name="kind"
          options={Object.entries(kinds)}
          value={kind}
          onPick={setKind}
        />
        {kind === 'status' && <Field label="Status" name="status" value="503" required decimal />}
        {kind === 'status' && <Field label="Retry-After, s" name="retryAfter" decimal />}
        {kind === 'delay' && <Field label="Milliseconds" name="ms" value="2000" required decimal />}
        {hasMoment(kind) && (
          <Choice
            label="When"
            name="when"
            options={[
              ['before_commit', 'before the commit'],
              ['after_commit', 'after the commit'],
            ]}
          />
        )}
        <Field label="Times, or always" name="times" value="1" />
        <Field label="Let through first" name="after" value="0" decimal />
      </Form>
    </Panel>
  );
});
