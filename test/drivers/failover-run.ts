import { fork, type ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { FailoverOrder, FailoverReport } from './failover-worker.ts';
import type { Ledger } from './failover-platform.ts';

/** How long one batch may take. */
const maxBatchMs = 120_000;

type Row = Extract<FailoverReport, { kind: 'row' }>;

/** One process that pays a batch. */
export class Run {
  readonly startedAt = Date.now();
  readonly references: ReadonlySet<string>;
  readonly rows = new Map<string, Row>();
  /** References of the payments that were in doubt at any time. */
  readonly doubts = new Set<string>();
  /** The error that the batch has thrown. */
  error: string | undefined;
  /** Resolves to a violation if the process has not ended as it should. */
  readonly end: Promise<string | undefined>;
  readonly #child: ChildProcess;
  #isKilled = false;

  constructor(order: FailoverOrder) {
    this.references = new Set(order.inputs.map(({ description }) => description));
    this.#child = fork(fileURLToPath(new URL('failover-worker.ts', import.meta.url)), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.end = this.#waitForEnd();
    this.#child.send(order);
  }

  kill(): void {
    this.#isKilled = true;
    this.#child.kill('SIGKILL');
  }

  /**
   * Finds the results that the ledger contradicts, by their references. `nextStartsAt` is the start
   * of the next run that pays a reference, whose transfer does not contradict this run.
   */
  findLies(ledger: Ledger, nextStartsAt: (reference: string) => number): Map<string, string> {
    const lies = new Map<string, string>();
    for (const { reference, result, transferId } of this.rows.values()) {
      const made = ledger.get(reference) ?? [];
      const isKnown = made.some(({ id }) => id === transferId);
      const wasPaid = made.some(({ createdAt }) => Date.parse(createdAt) < nextStartsAt(reference));
      if (transferId !== undefined && !isKnown) {
        lies.set(reference, `is ${result} as ${transferId}, which the ledger lacks`);
      } else if (result === 'not_paid' && wasPaid) lies.set(reference, 'is not_paid, and was paid');
    }
    return lies;
  }

  async #waitForEnd(): Promise<string | undefined> {
    const problem = await new Promise<string | undefined>((resolve) => {
      const timer = setTimeout(() => resolve('a batch did not end'), maxBatchMs);
      this.#child.on('exit', () => {
        clearTimeout(timer);
        resolve(this.#isKilled ? undefined : 'a worker ended by itself');
      });
      this.#child.on('message', (report: FailoverReport) => {
        if (report.kind === 'row') this.rows.set(report.reference, report);
        else if (report.kind === 'doubt') this.doubts.add(report.reference);
        else {
          this.error = report.error;
          resolve(undefined);
        }
      });
    });
    this.kill();
    return problem;
  }
}
