import { bodylessStatuses } from '../../internal/http.ts';
import { createErrorReply, type Reply, type SandboxReply } from '../api/responses.ts';
import type { PageFault } from '../api/pages.ts';
import type { Route } from '../api/routes.ts';
import { hashToHex } from '../platform/hash.ts';
import { checkFaultRule, canApply, type SandboxFault, type SandboxFaultRule } from './rule.ts';

/** Rules that make requests to a sandbox fail, or that delay or change their responses. */
export interface SandboxFaults {
  /**
   * Adds a {@link SandboxFaultRule}. At most one rule affects a request: the oldest that matches
   * and is not used up.
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
  /** Returns the rules not yet used up, oldest first; `times` and `after` show what is left. */
  list(): SandboxFaultRule[];
  /** Removes every fault rule. */
  clear(): void;
}

interface Pending {
  readonly faultRule: SandboxFaultRule;
  /** How many random choices a rule with `percent` has made; the number determines the next. */
  requestCount: number;
  /** How many more matching requests the rule lets pass because of its `after`. */
  skipsLeft: number;
  /** To how many more matching requests this rule applies. */
  remaining: number;
}

/** The fault rules of a sandbox, oldest first. */
export class FaultQueue implements SandboxFaults {
  #pending: Pending[] = [];

  add(faultRule: SandboxFaultRule): void {
    checkFaultRule(faultRule);
    const { percent, after = 0 } = faultRule;
    // By default, a rule with `percent` lasts, and any other rule applies to one request.
    const { times = percent === undefined ? 1 : 'always' } = faultRule;
    const remaining = times === 'always' ? Infinity : times;
    // The caller may change the object of the rule and add it again, so the queue keeps a copy.
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
   * Returns the fault for a request, if any. Each matching rule that still skips requests (`after`)
   * counts this one, even if the fault comes from another rule.
   */
  take(route: Route | undefined, hasCursor: boolean): SandboxFault | undefined {
    return this.#take(
      hasCursor,
      ({ operation, fault }) =>
        (operation === '*' || operation === route?.operation) && canApply(fault, route),
    );
  }

  takeWebhook(): SandboxFault | undefined {
    return this.#take(false, ({ operation }) => operation === 'webhook');
  }

  /** Returns the fault of the oldest matching rule that is due, and removes rules that are used up. */
  #take(hasCursor: boolean, matches: (faultRule: SandboxFaultRule) => boolean) {
    let matchedFault: SandboxFault | undefined;
    for (const pending of this.#pending) {
      const { fault } = pending.faultRule;
      if (!matches(pending.faultRule)) continue;
      if (pending.skipsLeft > 0) {
        pending.skipsLeft -= 1;
      } else if (matchedFault === undefined && isSelectedByChance(pending)) {
        matchedFault = fault;
        // The request for a first page has no cursor that the response could repeat, so that
        // request does not use up a `repeated_cursor` fault.
        if (fault.kind !== 'repeated_cursor' || hasCursor) pending.remaining -= 1;
      }
    }
    this.#pending = this.#pending.filter(({ remaining }) => remaining > 0);
    return matchedFault;
  }
}

/** Decides at random, by the rule's seed, whether a fault rule with `percent` applies to a request. */
function isSelectedByChance(pending: Pending): boolean {
  const { percent = 100, seed = 1 } = pending.faultRule;
  pending.requestCount += 1;
  return Number(`0x${hashToHex(`${seed} ${pending.requestCount}`, 8)}`) / 2 ** 32 < percent / 100;
}

/**
 * Creates fault rules that make a share of all requests fail, with an error status or a broken
 * connection, before or after the call takes effect. A seed selects the same requests in every run.
 */
export function createFailureRules(percent: number, seed: number): SandboxFaultRule[] {
  const faults: SandboxFault[] = [
    { kind: 'status', status: 503, when: 'before_commit' },
    { kind: 'status', status: 502, when: 'after_commit' },
    { kind: 'reset', when: 'before_commit' },
    { kind: 'reset', when: 'after_commit' },
  ];
  // A rule gets only requests that no earlier rule has taken, so each later rule needs a higher
  // percentage for an equal share. If all requests fail, the four rules have 25, 33.3, 50 and 100
  // percent.
  return faults.map((fault, at) => ({
    operation: '*',
    times: 'always',
    percent: percent / (faults.length - (percent / 100) * at),
    seed: seed * faults.length + at,
    fault,
  }));
}

/** How long a `delay` fault lasts, in milliseconds, if its rule has no `ms`. */
export const defaultDelayMs = 1_000;

/** Whether a call with this fault takes effect in the sandbox, even if its response is lost. */
function takesEffect(fault: SandboxFault): boolean {
  if ('when' in fault && fault.when !== undefined) return fault.when === 'after_commit';
  // A success has to take effect, because the caller will look for its effect.
  if (fault.kind === 'status') return fault.status < 300;
  return fault.kind !== 'hang' && fault.kind !== 'html';
}

/** Returns the kind of the fault if the fault changes the page that a list returns. */
export function getPageFault(fault: SandboxFault | undefined): PageFault | undefined {
  return fault?.kind === 'repeated_cursor' || fault?.kind === 'empty_page' ? fault.kind : undefined;
}

/** Returns the response of a call with this fault. Calls `perform` if the call takes effect. */
export function applyFault(fault: SandboxFault, perform: () => Reply): SandboxReply {
  const platformReply = takesEffect(fault) ? perform() : undefined;
  // A fault that cuts off a response needs a response, even if the call changes nothing.
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
    default:
      return { kind: 'complete', ...reply };
  }
}

const createInjectedReply = (status: number, code = 'injected_fault', error?: string): Reply =>
  createErrorReply(
    status,
    code,
    error ?? `The sandbox simulates a response with status ${status}.`,
  );

/**
 * Creates the response of a `status` fault from `platformReply`, the response without the fault
 * (undefined if the call took no effect). A response with a status of 400 or above gets the body of
 * an error instead.
 */
function createStatusReply(
  fault: Extract<SandboxFault, { kind: 'status' }>,
  platformReply: Reply | undefined,
): Reply {
  // If the sandbox rejected the call, a fault with a success status would claim an effect that
  // never happened, so the caller gets the rejection.
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
    body: bodylessStatuses.has(fault.status) ? null : reply.body,
  };
}

/** Creates an HTML error page like a proxy's. Its text appears in the client's error message. */
const createHtmlReply = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html>\n<html><body><p>a page of a proxy, simulated by the sandbox</p></body></html>\n',
});
