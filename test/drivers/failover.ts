import { parseArgs } from 'node:util';
import type { OnceInput } from '../../src/index.ts';
import type { JournalEntry } from '../../src/journals/index.ts';
import { missing } from '../stores/servers.ts';
import { startNode, urlOf, type Node, type ReplicatedStore } from './failover-nodes.ts';
import { pause, Platform, type Ledger } from './failover-platform.ts';
import { Run } from './failover-run.ts';
import type { FailoverOrder } from './failover-worker.ts';
import { Link } from './link.ts';
import { printReport } from './once-deaths.ts';

/*
 * Two processes pay one half of a payroll each, with clocks that are minutes wrong. Meanwhile the
 * replication of their store breaks, and then the standby takes over, which lacks what the primary
 * has acknowledged since. Each promotion has a payroll of its own. The ledger of the platform is
 * the judge: node test/drivers/failover.ts --store redis --minutes 30 --seed 1
 *
 * `--schedule` says when the standby takes over:
 *
 *   permitted  Once no request under a lost claim can take effect any more, so that the list shows
 *              what was paid. Assumption A3 of docs/proof.md permits this: nothing is paid twice.
 *   in_flight  While requests are on their way. Only a payment may be paid twice whose claim was
 *              lost before the list showed its transfer.
 *
 * With `--search never` the store does not search first, and assumption A3 lets it lose nothing. That
 * payments are then made twice shows that the judge notices.
 */

type Schedule = 'permitted' | 'in_flight';

/**
 * How many creations are late, and how late they take effect at most. The platform keeps to
 * `gracePeriod`. In flight, it may be later than the next try of a payment in doubt, which comes
 * after 5 seconds.
 */
const schedules = {
  permitted: { gracePeriod: 1_800, lateShare: 0.1, maxDelayMs: 1_500 },
  in_flight: { gracePeriod: 9_000, lateShare: 0.25, maxDelayMs: 8_000 },
};
/** How long one request may take. */
const timeout = 600;
/** After this time, a process has sent what it has claimed. */
const maxSendMs = 2_000;

/** How many payments each promotion, or all of them, has lost or left, and how they have ended. */
const noFigures = {
  promotions: 0,
  payments: 0,
  /** Processes that were killed before the promotion, and started again after it. */
  kills: 0,
  /** Lost entries whose transfer the list showed when the standby took over. */
  lostListed: 0,
  /** Lost entries without a transfer. */
  lostUnlisted: 0,
  /** Entries that were removed before, and are back. */
  returned: 0,
  /** Batches that ended with an error, because they could not reach the store. */
  thrown: 0,
  /** Payments that were in doubt at any time. */
  doubts: 0,
  /** Payments that were in doubt when their batch ended, and those of them that were ambiguous. */
  leftInDoubt: 0,
  ambiguous: 0,
  /** Payments that three more batches did not decide. */
  undecided: 0,
  /** Payments of which a later claim has replaced an expired one. */
  takeovers: 0,
  /** Payments that were made twice although assumption A3 held for them, or where it did not. */
  duplicates: 0,
  duplicatesBeyondA3: 0,
  /** Results that the ledger contradicts, in the same way. */
  falseReports: 0,
  falseReportsBeyondA3: 0,
};

type Figures = typeof noFigures;

interface Failovers extends Figures {
  readonly store: ReplicatedStore;
  readonly schedule: Schedule;
  readonly seed: number;
  readonly seconds: number;
  /** The violations. Empty when no payment that assumption A3 protects went wrong. */
  readonly wrong: readonly string[];
}

interface Settings {
  readonly store: ReplicatedStore;
  readonly schedule: Schedule;
  readonly searchFirst: FailoverOrder['searchFirst'];
  readonly seed: number;
  /** How many payments a payroll has. */
  readonly payments: number;
  /** The time of each payment. As long, a batch uses what one search of the list has found. */
  readonly totalTimeout: number;
}

interface World {
  readonly settings: Settings;
  readonly random: () => number;
  readonly platform: Platform;
  /** Leads from the workers to the primary. */
  readonly link: Link;
}

async function until(isTrue: () => boolean, maxMs: number): Promise<void> {
  const endsAt = performance.now() + maxMs;
  while (!isTrue() && performance.now() < endsAt) await pause(5);
}

/** Repeatable numbers from 0 to below 1. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** What the standby lacks when it takes over. */
interface Losses {
  readonly listed: ReadonlySet<string>;
  readonly unlisted: ReadonlySet<string>;
  readonly returned: ReadonlySet<string>;
}

type Entries = ReadonlyMap<string, JournalEntry>;

function findLosses(primary: Entries, standby: Entries, ledger: Ledger): Losses {
  const isLost = (key: string): boolean =>
    JSON.stringify(standby.get(key)) !== JSON.stringify(primary.get(key));
  const lost = [...primary.keys()].filter(isLost);
  return {
    listed: new Set(lost.filter((key) => ledger.has(key))),
    unlisted: new Set(lost.filter((key) => !ledger.has(key))),
    returned: new Set([...standby.keys()].filter((key) => !primary.has(key))),
  };
}

const isTakenOver = ({ history = [] }: JournalEntry): boolean =>
  history.filter(({ state }) => state === 'sending').length > 1;

/** One payroll, during which the standby takes over. */
class Payroll {
  readonly wrong: string[] = [];
  readonly #world: World;
  readonly #prefix: string;
  readonly #inputs: readonly OnceInput[];
  /** Every process that has paid, in the order of their starts. */
  readonly #runs: Run[] = [];

  constructor(world: World, number: number, sourceAccountId: string) {
    const { seed, payments } = world.settings;
    this.#world = world;
    this.#prefix = `payroll-${seed}-${number}-`;
    this.#inputs = Array.from({ length: payments }, (_, at) => ({
      sourceAccountId,
      destinationAccountId: 'acc_000001',
      // Some payments have equal terms.
      amount: `${10 + (at % 40)}.50`,
      description: `${this.#prefix}${String(at + 1).padStart(4, '0')}`,
    }));
  }

  /** Pays the payroll, promotes the standby meanwhile, and judges what has happened. */
  async pay(primary: Node, standby: Node): Promise<Figures> {
    const { platform, link, random } = this.#world;
    const half = Math.floor(this.#inputs.length / 2);
    // Some batches end with payments in doubt, which another process then finishes.
    const retryTimeout = random() < 0.5 ? 60_000 : 3_000;
    const [victim, other] = [this.#inputs.slice(0, half), this.#inputs.slice(half)];
    const runs = [this.#start(victim, retryTimeout), this.#start(other, retryTimeout)];

    const brokenAt = 0.1 + random() * 0.4;
    await this.#waitForShare(brokenAt);
    await standby.stopReplication();
    await this.#waitForShare(brokenAt + 0.1 + random() * 0.3);
    const isKilled = random() < 0.5;
    if (isKilled) runs[0]?.kill();
    const losses = await this.#promote(primary, standby);
    link.restore(standby.port);
    // If this process started before, it would be another call of the payments that are lost.
    if (isKilled) runs[0] = this.#start(victim, retryTimeout);
    await this.#finish(runs);

    await platform.stopFaults();
    const undecided = await this.#payAgain();
    await until(() => platform.link.pending === 0, this.#times.maxDelayMs);
    const ledger = await platform.readLedger(this.#prefix);
    const entries = await standby.readEntries(this.#prefix);
    const left = runs.flatMap(({ rows }) => [...rows.values()]);
    return {
      promotions: 1,
      payments: this.#inputs.length,
      kills: Number(isKilled),
      lostListed: losses.listed.size,
      lostUnlisted: losses.unlisted.size,
      returned: losses.returned.size,
      thrown: this.#runs.filter(({ error }) => error !== undefined).length,
      doubts: new Set(this.#runs.flatMap(({ doubts }) => [...doubts])).size,
      leftInDoubt: left.filter(({ result }) => result === 'in_doubt').length,
      ambiguous: left.filter(({ reason }) => reason === 'ambiguous').length,
      undecided: undecided.length,
      takeovers: [...entries.values()].filter(isTakenOver).length,
      ...this.#judge(ledger, undecided, losses),
    };
  }

  get #times() {
    return schedules[this.#world.settings.schedule];
  }

  #start(inputs: readonly OnceInput[], retryTimeout: number): Run {
    const { settings, platform, link, random } = this.#world;
    const { baseUrl, apiKey } = platform;
    // By turns a process is behind and ahead, by 2 to 15 minutes.
    const minutes = (2 + random() * 13) * (this.#runs.length % 2 === 0 ? -1 : 1);
    const run = new Run({
      store: urlOf(settings.store, link.port),
      searchFirst: settings.searchFirst,
      baseUrl,
      apiKey,
      gracePeriod: this.#times.gracePeriod,
      totalTimeout: settings.totalTimeout,
      timeout,
      retryTimeout,
      ahead: Math.round(minutes * 60_000),
      inputs,
    });
    this.#runs.push(run);
    return run;
  }

  /** Waits until a share of the payments has been sent. */
  async #waitForShare(share: number): Promise<void> {
    const { platform } = this.#world;
    await until(() => platform.created >= share * this.#inputs.length, 15_000);
  }

  /** Parts the primary from the workers, and promotes the standby. Returns what is lost. */
  async #promote(primary: Node, standby: Node): Promise<Losses> {
    const { settings, platform, link } = this.#world;
    if (settings.schedule === 'permitted') {
      // No process can claim a payment any more, and what was claimed is sent or given up.
      link.hold();
      await pause(maxSendMs);
      await until(() => platform.link.pending === 0, this.#times.maxDelayMs);
      await pause(100);
    }
    link.cut();
    // The primary may still run what it has received.
    await pause(20);
    const kept = await primary.readEntries(this.#prefix);
    await standby.promote();
    const entries = await standby.readEntries(this.#prefix);
    return findLosses(kept, entries, await platform.readLedger(this.#prefix));
  }

  /** Pays the whole payroll again, until each payment is made. Returns what is still open. */
  async #payAgain(): Promise<readonly OnceInput[]> {
    let open = this.#inputs;
    for (let tries = 0; tries < 3 && open.length > 0; tries += 1) {
      const run = this.#start(open, 60_000);
      await this.#finish([run]);
      open = open.filter(({ description }) => run.rows.get(description)?.transferId === undefined);
    }
    return open;
  }

  #amountOf(reference: string): string | undefined {
    return this.#inputs.find(({ description }) => description === reference)?.amount;
  }

  async #finish(runs: readonly Run[]): Promise<void> {
    const problems = await Promise.all(runs.map(({ end }) => end));
    this.wrong.push(...problems.filter((problem) => problem !== undefined));
  }

  #judge(ledger: Ledger, undecided: readonly OnceInput[], losses: Losses) {
    const { schedule, searchFirst } = this.#world.settings;
    const isBeyondA3 = (reference: string): boolean => {
      if (searchFirst !== 'always') return true;
      return schedule === 'in_flight' && losses.unlisted.has(reference);
    };
    /** Counts the problems, and reports those of payments that assumption A3 protects. */
    const count = (problems: readonly (readonly [reference: string, problem: string])[]) => {
      const within = problems.filter(([reference]) => !isBeyondA3(reference));
      this.wrong.push(...within.map((problem) => problem.join(' ')));
      return [within.length, problems.length - within.length] as const;
    };
    const made = [...ledger].map(([reference, { length }]) => ({ reference, length }));
    const twice = made.filter(({ length }) => length > 1);
    const [duplicates, duplicatesBeyondA3] = count(
      twice.map(({ reference, length }) => [reference, `was paid ${length} times`]),
    );
    const lies = this.#runs.flatMap((run, at) => [
      ...run.findLies(ledger, (reference) => {
        const later = this.#runs.slice(at + 1);
        const next = later.find(({ references }) => references.has(reference));
        return next?.startedAt ?? Number.POSITIVE_INFINITY;
      }),
    ]);
    const [falseReports, falseReportsBeyondA3] = count(lies);
    // The second transfer of a payment may be that of an open payment with equal terms.
    const doubled = new Set(twice.map(({ reference }) => this.#amountOf(reference)));
    const stuck = undecided.filter(({ amount }) => !doubled.has(amount));
    count(stuck.map(({ description }) => [description, 'was not decided']));
    return { duplicates, duplicatesBeyondA3, falseReports, falseReportsBeyondA3 };
  }
}

/** Promotes one standby after the other, until their number or the time is reached. */
export async function failOver({
  promotions,
  minutes = Number.POSITIVE_INFINITY,
  onPromotion,
  ...given
}: Pick<Settings, 'store'> &
  Partial<Settings> & {
    readonly promotions: number;
    readonly minutes?: number;
    readonly onPromotion?: (figures: Figures) => void;
  }): Promise<Failovers> {
  if (missing.length > 0) throw new Error(`apt-get install ${missing.join(' ')}`);
  const defaults = {
    schedule: 'permitted',
    searchFirst: 'always',
    seed: 1,
    payments: 200,
    totalTimeout: 15_000,
  } as const;
  const settings = { ...defaults, ...given };
  const { store, schedule, seed } = settings;
  const startedAt = performance.now();
  const random = createRandom(seed);
  let primary = await startNode(store);
  const nodes = new Set([primary]);
  const link = await Link.open(primary.port);
  // Creations arrive in another order in each run, so their delays have numbers of their own.
  const platform = await Platform.start(createRandom(seed + 1_000_000), schedules[schedule]);
  const world = { settings, random, platform, link };
  const total = { ...noFigures };
  const wrong: string[] = [];
  const isOver = () => performance.now() - startedAt >= minutes * 60_000;
  try {
    await platform.createAccount('Staff');
    while (total.promotions < promotions && !isOver()) {
      const number = total.promotions + 1;
      const standby = await startNode(store, primary);
      nodes.add(standby);
      const payroll = new Payroll(world, number, await platform.createAccount(`Company ${number}`));
      platform.created = 0;
      await platform.startFaults(seed * 10_000 + number);
      const figures = await payroll.pay(primary, standby);
      nodes.delete(primary);
      await primary.close();
      primary = standby;
      for (const name of Object.keys(figures) as (keyof Figures)[]) total[name] += figures[name];
      wrong.push(...payroll.wrong);
      onPromotion?.(figures);
    }
  } finally {
    link.close();
    platform.stop();
    for (const node of nodes) await node.close();
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  return { store, schedule, seed, ...total, seconds, wrong };
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', multiple: true, default: ['redis', 'postgres'] },
      schedule: { type: 'string', default: 'permitted' },
      search: { type: 'string', default: 'always' },
      minutes: { type: 'string', default: '1' },
      promotions: { type: 'string', default: 'Infinity' },
      payments: { type: 'string', default: '200' },
      seed: { type: 'string', default: '1' },
      verbose: { type: 'boolean', default: false },
    },
  });
  const stores = (['redis', 'postgres'] as const).filter((each) => values.store.includes(each));
  for (const store of stores) {
    const report = await failOver({
      store,
      schedule: values.schedule === 'in_flight' ? 'in_flight' : 'permitted',
      searchFirst: values.search === 'never' ? 'never' : 'always',
      seed: Number(values.seed),
      payments: Number(values.payments),
      promotions: Number(values.promotions),
      minutes: Number(values.minutes),
      onPromotion: (figures) => {
        if (values.verbose) console.log(JSON.stringify(figures));
      },
    });
    printReport(report);
  }
}
