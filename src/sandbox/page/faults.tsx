import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { operationPaths } from '../api/operations.ts';
import type { SandboxFault, SandboxFaultRule } from '../faults/rule.ts';
import { callControl, type PageState } from './live.ts';
import { Choice, Action, Empty, Field, Form, Panel, useRun, type Fields } from './parts.tsx';

const isTransfer = (operation: string) => operation.startsWith('transfers.');

/** The operations of Transfers are first in the list, because failed payments matter most. */
const operations = [...Object.keys(operationPaths), 'webhook'].toSorted(
  (one, other) => Number(isTransfer(other)) - Number(isTransfer(one)),
);

const kindLabels: Readonly<Record<SandboxFault['kind'], string>> = {
  status: 'an error status',
  reset: 'connection reset',
  hang: 'no response',
  delay: 'a late response',
  html: 'a page of a proxy',
  truncated_body: 'half a body, cut off',
  stalled_body: 'half a body, then nothing',
  repeated_cursor: 'a cursor that repeats',
  empty_page: 'an empty page in between',
  drop: 'a webhook that is lost',
  duplicate: 'a webhook that is sent twice',
  reorder: 'a webhook that is overtaken',
};

const webhookKinds: readonly string[] = ['drop', 'duplicate', 'reorder', 'delay'];
const hasMoment = (kind: string) =>
  ![...webhookKinds, 'repeated_cursor', 'empty_page'].includes(kind);

/** Returns the kinds of faults for an operation. Webhook deliveries have kinds of their own. */
const listKinds = (operation: string) =>
  Object.entries(kindLabels).filter(([kind]) =>
    operation === 'webhook'
      ? webhookKinds.includes(kind)
      : kind === 'delay' || !webhookKinds.includes(kind),
  );

const parseNumber = (text: string | undefined) => (text === undefined ? undefined : Number(text));

/**
 * Creates a fault rule as JSON from the fields of the form. JSON leaves out the fields that are
 * empty or not in the form. The control endpoint validates the rule.
 */
function buildRule(fields: Fields): string {
  const { operation, kind, when, times, after, status, retryAfter, ms } = fields;
  return JSON.stringify({
    operation,
    times: times === 'always' ? times : parseNumber(times),
    after: parseNumber(after),
    fault: {
      kind,
      when,
      status: parseNumber(status),
      retryAfter: parseNumber(retryAfter),
      ms: parseNumber(ms),
    },
  });
}

/** Describes a fault rule, such as `transfers.create: an error status, 503, 1 ×`. */
function describeRule({ operation, times, after, percent, fault }: SandboxFaultRule): string {
  const { kind } = fault;
  const parts = [
    kindLabels[kind],
    'status' in fault && fault.status !== undefined ? String(fault.status) : '',
    'ms' in fault ? `after ${fault.ms} ms` : '',
    'when' in fault && fault.when !== undefined ? fault.when.replace('_', ' ') : '',
    percent === undefined ? '' : `for ${Number(percent.toFixed(2))} % by chance`,
    after === undefined || after === 0 ? '' : `after ${after} more`,
    times === 'always' ? 'always' : `${times ?? 1} ×`,
  ];
  return `${operation === '*' ? 'every request' : operation}: ${parts.filter(Boolean).join(', ')}`;
}

/** The fault rules, and a form for a new rule. */
export const Faults = memo(({ faults }: Pick<PageState, 'faults'>) => {
  const [operation, setOperation] = useState('transfers.create');
  const [pickedKind, setKind] = useState('status');
  const kinds = listKinds(operation);
  // Another operation may lack the kind that was picked. The form then shows its first kind.
  const [kind] = kinds.find(([candidate]) => candidate === pickedKind) ?? kinds[0] ?? [''];
  const run = useRun();
  return (
    <Panel
      id="faults"
      count={faults.length}
      tools={
        faults.length > 0 && (
          <Action
            label="Remove all"
            onClick={() => run('Removed all faults.', () => callControl('DELETE', 'faults'))}
          />
        )
      }
    >
      {faults.length === 0 && <Empty>Every request gets its normal response.</Empty>}
      <ul class="rows">
        {faults.map((faultRule, at) => (
          <li key={`${at} ${JSON.stringify(faultRule.fault)}`}>{describeRule(faultRule)}</li>
        ))}
      </ul>
      <Form
        label="Add a fault"
        submit="Add fault"
        done={() => 'Added the fault.'}
        send={(fields) => callControl('POST', 'faults', buildRule(fields))}
      >
        <Choice
          label="Operation"
          name="operation"
          options={[...operations.map((name) => [name, name] as const), ['*', 'every request']]}
          value={operation}
          onPick={setOperation}
        />
        <Choice label="Fault" name="kind" options={kinds} value={kind} onPick={setKind} />
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
