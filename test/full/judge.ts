import { inspect } from 'node:util';
import type { PaymentsError } from '../../src/index.ts';
import type { Operation } from './plans.ts';
import { canary, slack, type Played, type Sdk } from './play.ts';
import type { FaultPlatform } from './server.ts';

/** What is wrong about the way a call ended; nothing, when the SDK has told the truth. */
export function judge(played: Played, sdk: Sdk, platform: FaultPlatform): string[] {
  const { plan, limits, nonce, ending } = played;
  const found = [...played.remarks];
  const ids = platform.idsOf(nonce);
  const isWrite = plan.operation !== 'get' && plan.operation !== 'search';
  if (ids.length > 1) found.push(`took effect ${ids.length} times`);
  if (ending.result === 'never') return [...found, 'did not end'];
  if (played.elapsed > limits.totalTimeout + slack) found.push('outlived its deadline');
  // A 401 is replayed once more, with another key, than retries are allowed.
  if (played.sent.length > limits.maxRetries + 2) found.push(`sent ${played.sent.length} times`);
  // Bun and Deno send reads again by themselves (createOnce reads, too), and a fetch of the standard what a
  // 421 refused; a write must not arrive more often than that.
  const refusedElsewhere = plan.faults.filter((name) => name === '421').length;
  const arrivals = platform.arrivalsOf(nonce);
  const isOneRequest = isWrite && plan.operation !== 'once';
  if (isOneRequest && arrivals > played.sent.length + refusedElsewhere) {
    found.push(`arrived ${arrivals} times, sent ${played.sent.length} times`);
  }
  if (played.listeners !== 0) found.push(`left ${played.listeners} listeners on the signal`);
  if (ending.result === 'ok')
    return [...found, ...judgeSuccess(plan.operation, ending.data, nonce, ids)];
  return [...found, ...judgeError(ending.error, sdk, played, ids, arrivals)];
}

function judgeSuccess(
  operation: Operation,
  data: unknown,
  nonce: string,
  ids: readonly string[],
): string[] {
  const got = inspect(data, { depth: 9, breakLength: Infinity });
  const field = (name: string): unknown =>
    typeof data === 'object' && data !== null ? Reflect.get(data, name) : undefined;
  if ({}.constructor !== Object || 'polluted' in {}) return ['polluted a prototype'];
  switch (operation) {
    case 'create':
    case 'once':
      return ids.length === 1 && field('id') === ids[0]
        ? []
        : [`resolved to ${got}, made ${ids.join()}`];
    case 'update':
      return ids.length === 1 && got.includes(`'${nonce}'`) ? [] : [`resolved to ${got}`];
    case 'remove':
      return ids.length === 1 ? [] : ['resolved, and nothing was deleted'];
    case 'get':
      return field('id') === `txfr_of_${nonce}` ? [] : [`resolved to ${got}`];
    case 'search':
      return got.includes(`nickname: '${nonce}'`) ? [] : [`resolved to ${got}`];
  }
}

const outcomes = new Set<unknown>(['not_sent', 'rejected', 'unknown']);

function judgeError(
  error: unknown,
  sdk: Sdk,
  { plan, sent }: Played,
  ids: readonly string[],
  arrivals: number,
): string[] {
  if (!(error instanceof sdk.PaymentsError)) return [`rejected with ${inspect(error)}`];
  const failure: PaymentsError = error;
  const found: string[] = [];
  const { outcome, attempts } = failure;
  const isExported = Object.values(sdk).some(
    (each) => typeof each === 'function' && each.name === failure.name,
  );
  if (!isExported || !outcomes.has(outcome)) found.push(`a strange error: ${failure.name}`);
  // Of several calls the last one says so, about itself.
  if (outcome === 'not_sent' && arrivals > 0 && plan.operation !== 'once') {
    found.push('not_sent, and the server has read it');
  }
  if (outcome !== 'unknown' && ids.length > 0) found.push(`${outcome}, and it took effect`);
  if (attempts.length > sent.length) found.push('tells of attempts that it did not make');
  if (plan.operation === 'once' && outcome === 'unknown' && !failure.retryable) {
    found.push('nobody is told to call again');
  }
  if (plan.operation === 'create' && outcome === 'unknown' && failure.retryable) {
    found.push('an unknown creation that calls itself retryable');
  }
  const shown = [
    inspect(failure, { depth: 12, showHidden: true }),
    JSON.stringify(failure),
    failure.stack,
    failure.message,
  ].join('\n');
  if (shown.includes(canary)) found.push('shows the credential');
  return found;
}
