import type { Clock } from '../../calls/clock.ts';
import type { RequestPipeline } from '../../calls/pipeline.ts';
import type { RequestOptions } from '../../calls/request-options.ts';
import type { Journal } from '../../journals/journal.ts';
import type { OnceInput, Transfer, TransferId } from '../../schemas/transfer.ts';
import type { Reconciliation } from './reconcile.ts';

/** What a payment made once works with: the client's, or with the options of one call applied to it. */
export interface OnceContext {
  readonly pipeline: Pick<RequestPipeline, 'check' | 'call' | 'redact' | 'redactOwn'>;
  readonly clock: Required<Clock>;
  /** The platform that the journal's entries belong to. */
  readonly baseUrl: string;
  readonly journal: Journal | undefined;
  /** How long a request may still take effect after its deadline, in milliseconds. */
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly signal?: AbortSignal | undefined;
  /** Searches the whole list of the source account. */
  search(input: OnceInput, options: RequestOptions): Promise<Reconciliation>;
  get(id: TransferId, options?: RequestOptions): Promise<Transfer>;
}
