import { errorReply, type Reply, type SandboxReply } from '../api/responses.ts';
import type { PageFault } from '../api/pages.ts';
import type { Route } from '../api/routes.ts';
import { fingerprint } from '../platform/fingerprint.ts';
import { SandboxError } from '../platform/sandbox-error.ts';
import {
  bodylessStatuses,
  checkFaultRule,
  canApply,
  type SandboxFault,
  type SandboxFaultRule,
} from './rule.ts';

/** The faults that a sandbox simulates. */
export interface SandboxFaults {
  /**
   * Adds a rule. At most one rule applies to a request: the oldest that matches and is not used up.
   * @throws TypeError when the rule is malformed or could never apply, as `empty_page` on a create.
   *
   * @example
   * ```ts
   * import { Sandbox } from 'payments-platform-sdk/sandbox';
   *
   * const sandbox = new Sandbox();
   * sandbox.faults.add({
   *   operation: 'transfers.create',
   *   fault: { kind: 'reset', when: 'after_commit' },
   * });
   * ```
   */
  add(faultRule: SandboxFaultRule): void;
  /** Returns the rules that are not used up, oldest first. `times` and `after` are what remains. */
  list(): SandboxFaultRule[];
  /** Removes every rule. */
  clear(): void;
}

interface Pending {
  readonly faultRule: SandboxFaultRule;
  /** Requests for which chance decided. The seed and this number determine the next decision. */
  requestCount: number;
  /** Matching requests that the rule still lets through. */
  skipsLeft: number;
  /** Matching requests that the rule still affects. */
  remaining: number;
}

/** The rules of a sandbox in the order in which they were added. */
export class FaultQueue implements SandboxFaults {
  #pending: Pending[] = [];

  add(faultRule: SandboxFaultRule): void {
    checkFaultRule(faultRule);
    const { percent, after = 0 } = faultRule;
    const { times = percent === undefined ? 1 : 'always' } = faultRule;
    const remaining = times === 'always' ? Infinity : times;
    // The caller may change the object for its next rule, so the queue keeps a copy.
    this.#pending.push({
      faultRule: structuredClone(faultRule),
      requestCount: 0,
      skipsLeft: after,
      remaining,
    });
  }

  list(): SandboxFaultRule[] {
    return this.#pending.map(({ faultRule, skipsLeft, remaining }) => ({
      ...structuredClone(faultRule),
      times: remaining === Infinity ? 'always' : remaining,
      after: Math.min(skipsLeft, Number.MAX_SAFE_INTEGER),
    }));
  }

  clear(): void {
    this.#pending = [];
  }

  /**
   * Returns the fault of this request, if any. A request that a rule lets through first (`after`)
   * counts for that rule even if another rule affects the request.
   */
  take(route: Route | undefined, hasCursor: boolean): SandboxFault | undefined {
    return this.#take(
      hasCursor,
      ({ operation, fault }) =>
        (operation === '*' || operation === route?.operation) && canApply(fault, route),
    );
  }

  /** The fault of this delivery, if any. */
  takeWebhook(): SandboxFault | undefined {
    return this.#take(false, ({ operation }) => operation === 'webhook');
  }

  #take(
    hasCursor: boolean,
    matches: (faultRule: SandboxFaultRule) => boolean,
  ): SandboxFault | undefined {
    let matchedFault: SandboxFault | undefined;
    for (const pending of this.#pending) {
      const { fault } = pending.faultRule;
      if (!matches(pending.faultRule)) continue;
      if (pending.skipsLeft > 0) {
        pending.skipsLeft -= 1;
      } else if (matchedFault === undefined && isSelectedByChance(pending)) {
        matchedFault = fault;
        // A first page has no cursor to repeat, so it does not use the fault up.
        if (fault.kind !== 'repeated_cursor' || hasCursor) pending.remaining -= 1;
      }
    }
    this.#pending = this.#pending.filter(({ remaining }) => remaining > 0);
    return matchedFault;
  }
}

/** Whether chance selects a request; without `percent` every request is selected. */
function isSelectedByChance(pending: Pending): boolean {
  const { percent = 100, seed = 1 } = pending.faultRule;
  pending.requestCount += 1;
  return Number(`0x${fingerprint(`${seed} ${pending.requestCount}`, 8)}`) / 2 ** 32 < percent / 100;
}

/**
 * Creates rules that make a share of all requests fail: with an error status or a reset, before or
 * after the call takes effect. With the same seed, the same requests fail in every run.
 */
export function createFailureRules(percent: number, seed: number): SandboxFaultRule[] {
  const faults: SandboxFault[] = [
    { kind: 'status', status: 503, when: 'before_commit' },
    { kind: 'status', status: 502, when: 'after_commit' },
    { kind: 'reset', when: 'before_commit' },
    { kind: 'reset', when: 'after_commit' },
  ];
  // Each rule sees only the requests that the rules before it let through, so a later rule needs a
  // higher percentage for an equal share of all requests.
  return faults.map((fault, at) => ({
    operation: '*',
    times: 'always',
    percent: percent / (faults.length - (percent / 100) * at),
    seed: seed * faults.length + at,
    fault,
  }));
}

/** How long a `delay` without `ms` takes. */
export const defaultDelayMs = 1_000;

/** Whether the call takes effect, although the caller may get no response. */
function takesEffect(fault: SandboxFault): boolean {
  switch (fault.kind) {
    case 'delay':
    case 'repeated_cursor':
    case 'empty_page':
    case 'drop':
    case 'duplicate':
    case 'reorder':
      return true;
    case 'truncated_body':
    case 'stalled_body':
      return fault.when !== 'before_commit';
    case 'status':
      return fault.when === 'after_commit' || fault.status < 300;
    default:
      return fault.when === 'after_commit';
  }
}

/** Returns the kind of the fault if the fault changes a page. */
export function getPageFault(fault: SandboxFault | undefined): PageFault | undefined {
  return fault?.kind === 'repeated_cursor' || fault?.kind === 'empty_page' ? fault.kind : undefined;
}

/** The response that the caller gets. `perform` is called if the call takes effect. */
export function applyFault(fault: SandboxFault, perform: () => Reply): SandboxReply {
  const platformReply = takesEffect(fault) ? perform() : undefined;
  const reply = platformReply ?? createInjectedReply(500);
  switch (fault.kind) {
    case 'hang':
    case 'reset':
      return { kind: fault.kind };
    case 'html':
      return { kind: 'complete', ...createHtmlReply(fault.status ?? 502) };
    case 'status':
      return { kind: 'complete', ...createStatusReply(fault, platformReply) };
    case 'truncated_body':
      return { kind: 'truncated', ...reply };
    case 'stalled_body':
      return { kind: 'stalled', ...reply };
    case 'delay':
    case 'repeated_cursor':
    case 'empty_page':
    case 'drop':
    case 'duplicate':
    case 'reorder':
      return { kind: 'complete', ...reply };
  }
}

const createInjectedReply = (status: number, code = 'injected_fault', error?: string): Reply =>
  errorReply(
    new SandboxError(error ?? `The sandbox simulates a response with status ${status}.`, {
      code,
      status,
    }),
  );

function createStatusReply(
  fault: Extract<SandboxFault, { kind: 'status' }>,
  platformReply: Reply | undefined,
): Reply {
  // If the platform rejected the call, a success would claim an effect that never happened.
  if (platformReply !== undefined && platformReply.status >= 400 && fault.status < 300)
    return platformReply;
  const reply =
    platformReply !== undefined && fault.status < 400
      ? platformReply
      : createInjectedReply(fault.status, fault.code, fault.error);
  const { retryAfter } = fault;
  return {
    status: fault.status,
    headers: {
      ...reply.headers,
      ...(retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) }),
      ...fault.headers,
    },
    body: bodylessStatuses.includes(fault.status) ? null : reply.body,
  };
}

/** An HTML error page, as a proxy sends it. The text of the page appears in the client's error. */
const createHtmlReply = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html>\n<html><body><p>a page of a proxy, simulated by the sandbox</p></body></html>\n',
});
