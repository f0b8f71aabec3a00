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

/** The faults that a sandbox is told to show. */
export interface SandboxFaults {
  /**
   * Adds a rule. At most one rule applies to a request: the oldest that matches and is not used up.
   * @throws TypeError for a rule that could never apply, such as an empty page of a create call.
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
  add(rule: SandboxFaultRule): void;
  /** The rules that are not used up, oldest first: `times` and `after` say how much is left. */
  list(): SandboxFaultRule[];
  /** Forgets every rule. */
  clear(): void;
}

interface Pending {
  readonly rule: SandboxFaultRule;
  /** Requests that it has seen; with the seed, they make chance repeatable. */
  requestCount: number;
  /** Requests that still pass. */
  skipsLeft: number;
  /** Requests that are still struck. */
  remaining: number;
}

/** The rules of a sandbox in the order in which they were added. */
export class FaultQueue implements SandboxFaults {
  #pending: Pending[] = [];

  add(rule: SandboxFaultRule): void {
    checkFaultRule(rule);
    const { times = rule.percent === undefined ? 1 : 'always', after = 0 } = rule;
    const remaining = times === 'always' ? Infinity : times;
    // The caller may use the object for its next rule.
    this.#pending.push({
      rule: structuredClone(rule),
      requestCount: 0,
      skipsLeft: after,
      remaining,
    });
  }

  list(): SandboxFaultRule[] {
    return this.#pending.map(({ rule, skipsLeft, remaining }) => ({
      ...structuredClone(rule),
      times: remaining === Infinity ? 'always' : remaining,
      after: Math.min(skipsLeft, Number.MAX_SAFE_INTEGER),
    }));
  }

  clear(): void {
    this.#pending = [];
  }

  /** The fault that this request meets, if any. Every request that passes a rule is counted. */
  take(route: Route | undefined, hasCursor: boolean): SandboxFault | undefined {
    let matchedFault: SandboxFault | undefined;
    for (const pending of this.#pending) {
      const { operation, fault } = pending.rule;
      if (operation !== '*' && operation !== route?.operation) continue;
      if (!canApply(fault, route)) continue;
      if (pending.skipsLeft > 0) {
        pending.skipsLeft -= 1;
      } else if (matchedFault === undefined && isSelectedByChance(pending)) {
        matchedFault = fault;
        // A first page repeats nothing yet: it only leads to a page that will.
        if (fault.kind !== 'repeated_cursor' || hasCursor) pending.remaining -= 1;
      }
    }
    this.#pending = this.#pending.filter(({ remaining }) => remaining > 0);
    return matchedFault;
  }
}

/** Whether chance lets a rule strike: always, if the rule leaves nothing to it. */
function isSelectedByChance(pending: Pending): boolean {
  const { percent = 100, seed = 1 } = pending.rule;
  pending.requestCount += 1;
  return Number(`0x${fingerprint(`${seed} ${pending.requestCount}`, 8)}`) / 2 ** 32 < percent / 100;
}

/**
 * OptionChecks that let so many in a hundred requests fail, in the same order in every run: refused or lost,
 * before the commit and after it alike.
 */
export function createFailureRules(percent: number, seed: number): SandboxFaultRule[] {
  const faults: SandboxFault[] = [
    { kind: 'status', status: 503, when: 'before_commit' },
    { kind: 'status', status: 502, when: 'after_commit' },
    { kind: 'reset', when: 'before_commit' },
    { kind: 'reset', when: 'after_commit' },
  ];
  // A request that passes one rule meets the next, so each takes its share of what is left.
  return faults.map((fault, at) => ({
    operation: '*',
    times: 'always',
    percent: percent / (faults.length - (percent / 100) * at),
    seed: seed * faults.length + at,
    fault,
  }));
}

/** Whether the platform does what was asked, although the caller may never hear of it. */
function takesEffect(fault: SandboxFault): boolean {
  switch (fault.kind) {
    case 'delay':
    case 'repeated_cursor':
    case 'empty_page':
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

/** The fault as far as it concerns the making of a page. */
export function getPageFault(fault: SandboxFault | undefined): PageFault | undefined {
  return fault?.kind === 'repeated_cursor' || fault?.kind === 'empty_page' ? fault.kind : undefined;
}

/** What the caller gets to see. `act` is called if the platform does what was asked. */
export function applyFault(fault: SandboxFault, act: () => Reply): SandboxReply {
  const platformReply = takesEffect(fault) ? act() : undefined;
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
      return { kind: 'complete', ...reply };
  }
}

const createInjectedReply = (status: number, code = 'injected_fault', error?: string): Reply =>
  errorReply(
    new SandboxError(error ?? `The sandbox was told to answer with status ${status}.`, {
      code,
      status,
    }),
  );

function createStatusReply(
  fault: Extract<SandboxFault, { kind: 'status' }>,
  platformReply: Reply | undefined,
): Reply {
  // A success says that the call took effect, and this one was refused.
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

/** The words read well in an error, which shows them behind the status. */
const createHtmlReply = (status: number): Reply => ({
  status,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  body: '<!doctype html>\n<html><body><p>a page of a proxy, which the sandbox was told to show</p></body></html>\n',
});
