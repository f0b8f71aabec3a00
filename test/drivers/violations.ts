import { inspect } from 'node:util';
import type { PaymentsError } from '../../src/index.ts';
import type { Operation } from './plans.ts';
import { canary, slack, type Played, type Sdk } from './play.ts';
import type { FaultPlatform } from './server.ts';

/** Differences between the ending of a call and the ledger of the platform. */
export function findViolations(played: Played, sdk: Sdk, platform: FaultPlatform): string[] {
  const { plan, limits, nonce, ending } = played;
  const violations = [...played.remarks];
  const ids = platform.idsOf(nonce);
  const isWrite = plan.operation !== 'get' && plan.operation !== 'search';
  if (ids.length > 1) violations.push(`took effect ${ids.length} times`);
  if (ending.result === 'never') return [...violations, 'did not end'];
  if (played.elapsed > limits.totalTimeout + slack) violations.push('outlived its deadline');
  // A call that receives a 401 is sent once more with another key, beside the retries.
  if (played.sent.length > limits.maxRetries + 2)
    violations.push(`sent ${played.sent.length} times`);
  // Counts only single writes: Bun and Deno repeat reads, and createOnce also reads. Every standard
  // fetch repeats a request after a 421.
  const misdirected = plan.faults.filter((name) => name === '421').length;
  const arrivals = platform.arrivalsOf(nonce);
  const isOneRequest = isWrite && plan.operation !== 'once';
  if (isOneRequest && arrivals > played.sent.length + misdirected) {
    violations.push(`arrived ${arrivals} times, sent ${played.sent.length} times`);
  }
  if (played.listeners !== 0) violations.push(`left ${played.listeners} listeners on the signal`);
  if (ending.result === 'ok')
    return [...violations, ...checkSuccess(plan.operation, ending.data, nonce, ids)];
  return [...violations, ...checkError(ending.error, sdk, played, ids, arrivals)];
}

function checkSuccess(
  operation: Operation,
  data: unknown,
  nonce: string,
  ids: readonly string[],
): string[] {
  const output = inspect(data, { depth: 9, breakLength: Infinity });
  const field = (name: string): unknown =>
    typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;
  if ({}.constructor !== Object || 'polluted' in {}) return ['polluted a prototype'];
  switch (operation) {
    case 'create':
    case 'once':
      return ids.length === 1 && field('id') === ids[0]
        ? []
        : [`resolved to ${output}, made ${ids.join()}`];
    case 'update':
      return ids.length === 1 && output.includes(`'${nonce}'`) ? [] : [`resolved to ${output}`];
    case 'remove':
      return ids.length === 1 ? [] : ['resolved, and nothing was deleted'];
    case 'get':
      return field('id') === `txfr_of_${nonce}` ? [] : [`resolved to ${output}`];
    case 'search':
      return output.includes(`nickname: '${nonce}'`) ? [] : [`resolved to ${output}`];
  }
}

const outcomes = new Set<unknown>(['not_sent', 'rejected', 'unknown']);

function checkError(
  error: unknown,
  sdk: Sdk,
  { plan, sent }: Played,
  ids: readonly string[],
  arrivals: number,
): string[] {
  if (!(error instanceof sdk.PaymentsError)) return [`rejected with ${inspect(error)}`];
  const failure: PaymentsError = error;
  const violations: string[] = [];
  const { outcome, attempts } = failure;
  const isExported = Object.values(sdk).some(
    (value) => typeof value === 'function' && value.name === failure.name,
  );
  if (!isExported || !outcomes.has(outcome))
    violations.push(`an unexpected error: ${failure.name}`);
  // The outcome of createOnce is about the last of its requests.
  if (outcome === 'not_sent' && arrivals > 0 && plan.operation !== 'once') {
    violations.push('not_sent, and the server read the request');
  }
  if (outcome !== 'unknown' && ids.length > 0) violations.push(`${outcome}, and it took effect`);
  if (attempts.length > sent.length) violations.push('lists attempts that it did not make');
  // On a busy machine the second search of a call may not end in its 400 ms, either.
  const isTold = failure.retryable || /\(totalTimeout\)/.test(failure.message);
  if (plan.operation === 'once' && outcome === 'unknown' && !isTold) {
    violations.push('nobody is told to call again');
  }
  if (plan.operation === 'create' && outcome === 'unknown' && failure.retryable) {
    violations.push('an unknown creation that is retryable');
  }
  const output = [
    inspect(failure, { depth: 12, showHidden: true }),
    JSON.stringify(failure),
    failure.stack,
    failure.message,
  ].join('\n');
  if (output.includes(canary)) violations.push('shows the credential');
  return violations;
}
