import {
  findNextStep,
  findSituation,
  findSituationAfterRequest,
  type Scan,
  type Situation,
  type Step,
} from '../../src/once/decision.ts';
import type { Transfer } from '../../src/schemas/transfer.ts';

/*
 * Explores `findNextStep` without a journal. A world is one state of everything, as plain JSON: the entry
 * of one payment, the transfers of the platform, and callers that are idle, deciding or sending. A
 * step yields the worlds that may follow. Here each write succeeds at once, whereas
 * once-explorer.ts explores the order of writes.
 */

/** For how many steps of time a caller may send, and a request may take effect after that. */
const totalTimeout = 1;
const gracePeriod = 1;

export type Decide = (situation: Situation, scans: readonly Scan[]) => Step;

export interface Bounds {
  readonly callers: number;
  /** How many calls each caller makes. */
  readonly calls: number;
  /** How many scans may miss a transfer that moves in the list. */
  readonly misses: number;
  /** How many calls may die. */
  readonly deaths: number;
  /** The journal may lose the entry once, when no request can take effect any more. */
  readonly forgets: boolean;
  readonly findNextStep: Decide;
}

type Entry =
  | { readonly state: 'sending'; readonly claim: number; readonly expiresAt: number }
  | { readonly state: 'paid'; readonly transfer: number };

type Claim = Extract<Entry, { readonly state: 'sending' }>;

type Call =
  | { readonly at: 'idle' }
  | {
      readonly at: 'deciding';
      readonly situation: Situation;
      readonly before: Claim | undefined;
      readonly scans: readonly Scan[];
    }
  | { readonly at: 'sending'; readonly before: Claim | undefined; readonly claim: Claim };

interface World {
  readonly time: number;
  readonly entry: Entry | undefined;
  /** When the list begins to show each transfer. */
  readonly transfers: readonly number[];
  readonly claims: number;
  readonly callers: readonly { readonly call: Call; readonly left: number }[];
  readonly misses: number;
  readonly deaths: number;
  readonly canLose: boolean;
  /** A false report to a caller. */
  readonly lie?: string;
}

const idle: Call = { at: 'idle' };

/** Copies a world in which one caller has gone on to another call state. */
const move = (world: World, at: number, call: Call, changes: Partial<World> = {}): World => ({
  ...world,
  ...changes,
  callers: world.callers.map((caller, index) => (index === at ? { ...caller, call } : caller)),
});

const isSameEntry = (one: Entry | undefined, other: Entry | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

/** Begins a call: reads the entry and the time. */
function begin(world: World, at: number, canForget: boolean): World {
  const { entry, time } = world;
  const callers = world.callers.map((caller, index) =>
    index === at ? { ...caller, left: caller.left - 1 } : caller,
  );
  const begun = { ...world, callers };
  if (entry?.state === 'paid') return begun;
  const left = entry && {
    toRun: entry.expiresAt - gracePeriod - time,
    toTakeEffect: entry.expiresAt - time,
  };
  const situation = findSituation(left, canForget);
  return move(begun, at, { at: 'deciding', situation, before: entry, scans: [] });
}

/** What one scan may show. */
function scanOnce(world: World): { readonly shown: readonly number[]; readonly world: World }[] {
  const shown = world.transfers.flatMap((from, index) => (from <= world.time ? [index] : []));
  const seen = { shown, world };
  if (shown.length === 0 || world.misses === 0) return [seen];
  return [seen, { shown: [], world: { ...world, misses: world.misses - 1 } }];
}

function describeScan(shown: readonly number[]): Scan {
  const [first, ...others] = shown.map((index) => ({ id: `txfr_${index}` }) as Transfer);
  if (first === undefined) return { result: 'not_found' };
  if (others.length > 0) return { result: 'ambiguous', candidates: [first, ...others] };
  return { result: 'found', transfer: first };
}

/** Carries out what the decision says. */
function carryOut(world: World, at: number, call: Call & { at: 'deciding' }, step: Step): World[] {
  const { before, scans } = call;
  switch (step.next) {
    case 'scan': {
      const looks = scanOnce(world).flatMap((look) =>
        step.isConfirmed && look.shown.length === 0 ? scanOnce(look.world) : [look],
      );
      return looks.map((look) =>
        move(look.world, at, { ...call, scans: [...scans, describeScan(look.shown)] }),
      );
    }
    case 'record': {
      const transfer = Number(step.transfer.id.slice('txfr_'.length));
      return [move(world, at, idle, { entry: { state: 'paid', transfer } })];
    }
    case 'send': {
      if (!isSameEntry(world.entry, before)) return [move(world, at, idle)];
      const expiresAt = world.time + totalTimeout + gracePeriod;
      const claim: Claim = { state: 'sending', claim: world.claims, expiresAt };
      const sending: Call = { at: 'sending', before, claim };
      return [move(world, at, sending, { entry: claim, claims: world.claims + 1 })];
    }
    case 'fail':
      if (world.transfers.length === 0) return [move(world, at, idle)];
      return [move(world, at, idle, { lie: 'told that it is not paid' })];
    default:
      return [move(world, at, idle)];
  }
}

/** What may become of a request. */
function send(
  world: World,
  at: number,
  { before, claim }: Call & { at: 'sending' },
  findNextStep: Decide,
): World[] {
  const { time, entry, transfers } = world;
  const after = (isCertain: boolean, isTakeover: boolean, left: Entry | undefined) => {
    const situation = findSituationAfterRequest({ isCertain, isTakeover });
    return {
      at: 'deciding',
      situation,
      before: left?.state === 'paid' ? undefined : left,
      scans: [],
    } as const;
  };
  // A call that was suspended may find that another call has taken over its claim.
  const isOurs = isSameEntry(entry, claim);
  const left = isOurs ? before : entry;
  const failed = after(true, before !== undefined || !isOurs, left);
  const ended = move(world, at, entry?.state === 'paid' ? idle : failed, { entry: left });
  const step = findNextStep(failed.situation, []);
  // The caller is told of the rejection at once, before another call can follow.
  const rejected =
    entry?.state === 'paid' || step.next === 'scan' ? [ended] : carryOut(ended, at, failed, step);
  // No request starts after the deadline of its claim.
  if (time > claim.expiresAt - gracePeriod) return rejected;
  const unknown = after(false, before !== undefined, claim);
  const paid: Entry = { state: 'paid', transfer: transfers.length };
  // The list shows a transfer later if the list lags or the request takes effect late.
  return [
    ...rejected,
    move(world, at, unknown),
    ...[time, time + gracePeriod].flatMap((shownAt) => {
      const made = [...transfers, shownAt];
      return [
        move(world, at, idle, { transfers: made, entry: paid }),
        move(world, at, unknown, { transfers: made }),
      ];
    }),
  ];
}

function stepCaller(world: World, at: number, { findNextStep, forgets }: Bounds): World[] {
  const caller = world.callers[at];
  if (caller === undefined) return [];
  const { call, left } = caller;
  if (call.at === 'idle') return left > 0 ? [begin(world, at, forgets)] : [];
  const dead = world.deaths > 0 ? [move(world, at, idle, { deaths: world.deaths - 1 })] : [];
  if (call.at === 'sending') return [...send(world, at, call, findNextStep), ...dead];
  return [...carryOut(world, at, call, findNextStep(call.situation, call.scans)), ...dead];
}

/** The worlds that may follow one world. */
function follow(world: World, bounds: Bounds): World[] {
  const { entry, time } = world;
  const next = world.callers.flatMap((_, at) => stepCaller(world, at, bounds));
  const isRunning = world.callers.some(({ call }) => call.at !== 'idle');
  const isOver = entry?.state !== 'sending' || entry.expiresAt <= time;
  const isShown = world.transfers.every((from) => from <= time);
  if (world.canLose && entry !== undefined && !isRunning && isOver && isShown) {
    next.push({ ...world, entry: undefined, canLose: false });
  }
  // When the claim has ended and the list shows all transfers, nothing depends on the time.
  if (!isOver || !isShown) next.push({ ...world, time: time + 1 });
  return next;
}

/** Whether calls without a fault, and without other callers, end the payment. */
function canEnd(world: World, bounds: Bounds): boolean {
  let now: World = { ...world, misses: 0, deaths: 0, callers: [{ call: idle, left: 3 }] };
  for (let steps = 0; steps < 40; steps += 1) {
    if (now.entry?.state === 'paid' && now.callers[0]?.call.at === 'idle') return true;
    // Of the worlds that may follow, prefers the one in which the request succeeds.
    const next = stepCaller(now, 0, bounds);
    const paid = next.find(({ entry }) => entry?.state === 'paid');
    now = paid ?? next[0] ?? now;
    if (now.callers[0]?.call.at === 'idle') now = { ...now, time: now.time + 1 };
  }
  return false;
}

function findViolation(world: World, bounds: Bounds): string | undefined {
  if (world.transfers.length > 1) return 'two payments';
  if (world.lie !== undefined) return world.lie;
  const isOver = world.callers.every(({ call, left }) => call.at === 'idle' && left === 0);
  return isOver && !canEnd(world, bounds) ? 'no call ends it' : undefined;
}

/** Explores all worlds. */
export function explore(
  given: Omit<Bounds, 'findNextStep'> & Partial<Pick<Bounds, 'findNextStep'>>,
): {
  readonly worlds: number;
  readonly violation: string | undefined;
} {
  const bounds: Bounds = { findNextStep, ...given };
  const { callers, calls, misses, deaths, forgets } = bounds;
  const first: World = {
    time: 0,
    entry: undefined,
    transfers: [],
    claims: 0,
    callers: Array.from({ length: callers }, () => ({ call: idle, left: calls })),
    misses,
    deaths,
    canLose: forgets,
  };
  const seen = new Set([JSON.stringify(first)]);
  const open = [first];
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    const violation = findViolation(world, bounds);
    if (violation !== undefined) return { worlds: seen.size, violation };
    for (const next of follow(world, bounds)) {
      const key = JSON.stringify(next);
      if (seen.has(key)) continue;
      seen.add(key);
      open.push(next);
    }
  }
  return { worlds: seen.size, violation: undefined };
}
