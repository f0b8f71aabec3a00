import type { Clock } from '../calls/time.ts';
import type { Hooks } from '../calls/hooks.ts';
import type { RequestPipeline } from '../calls/pipeline.ts';
import type { RequestOptions } from '../calls/options.ts';
import type { Journal } from '../journals/journal.ts';
import type { AccountId } from '../schemas/account.ts';
import type { OnceInput, Transfer, TransferCreated, TransferId } from '../schemas/transfer.ts';
import type { Call } from '../calls/call.ts';
import type { WatchedCall } from '../calls/tracing.ts';
import type { Reconciliation, Search, TransferSearch } from '../search/search.ts';

/** Dependencies of a GuardedJournal. */
export interface JournalContext {
  readonly pipeline: Pick<RequestPipeline, 'check' | 'authorize' | 'call' | 'redact' | 'redactOwn'>;
  readonly clock: Required<Clock>;
  /** The platform that the journal's entries belong to. */
  readonly baseUrl: string;
  readonly journal: Journal | undefined;
  /** How long a request may still take effect after its deadline, in milliseconds. */
  readonly gracePeriod: number;
  readonly totalTimeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** What a payment made once works with: the client's, or with the options of one call applied to it. */
export interface OnceContext extends JournalContext {
  /** How long a search may take, in milliseconds. */
  readonly searchTimeout: number;
  /** When the payment was first requested, as its caller states; undefined if that is not known. */
  readonly since?: number | undefined;
  /** Searches the list of the source account for one payment. */
  search(search: Search<OnceInput>, options: PaymentSearchOptions): Promise<Reconciliation>;
  get(id: TransferId): Promise<Transfer>;
  getAccount(id: AccountId): Promise<unknown>;
}

/** How one payment is searched for. */
interface PaymentSearchOptions {
  /** Whether this call may make the first claim, so that the result of a recent scan is enough. */
  readonly isUnclaimed: boolean;
  /** Whether a long list has to show nothing twice in a row. */
  readonly confirms: boolean;
  readonly signal: AbortSignal;
  /** Called after each page. */
  readonly onPage: () => void;
}

/** The client's dependencies for createOnce, createAllOnce, openOnce and resolveOnce. */
export interface ClientContext extends JournalContext {
  readonly pipeline: JournalContext['pipeline'] & Pick<RequestPipeline, 'watch' | 'showReference'>;
  readonly hooks: Hooks;
  /** The call that sends a payment. */
  creationCall(input: OnceInput): Call<TransferCreated>;
  readonly transferSearch: TransferSearch;
  get(id: TransferId, options: RequestOptions, within?: WatchedCall): Promise<Transfer>;
  getAccount(id: AccountId, options: RequestOptions, within?: WatchedCall): Promise<unknown>;
}
