import type { RequestOptions } from '../calls/options.ts';
import type { Hooks } from '../calls/hooks.ts';
import type { RequestPipeline } from '../calls/pipeline.ts';
import type { ResolvedPlatform } from '../calls/platform.ts';
import type { Clock } from '../calls/time.ts';
import type { Trace } from '../calls/tracing.ts';
import type { Journal } from '../journals/journal.ts';
import type { OnceInput, Transfer } from '../schemas/transfer.ts';
import {
  createPageSizes,
  type IsOtherPayment,
  type Reconciliation,
  type Search,
  type TransferSearch,
} from '../search/search.ts';
import type { TransferApi } from '../search/transfer-api.ts';
import type { LastSearches } from './last-searches.ts';
import { selectReadOptions, type OnceOptions } from './options.ts';
import type { SharedSearches } from './shared-searches.ts';

export interface JournalContext {
  readonly pipeline: Pick<RequestPipeline, 'redact' | 'redactOwn'>;
  readonly clock: Required<Clock>;
  /** The base URL of the platform, as journal entries name it. */
  readonly baseUrl: string;
  readonly journal: Journal | undefined;
  /** How long a request may still take effect after its deadline, in milliseconds. */
  readonly gracePeriod: number;
  /** How long the whole call may take, in milliseconds. */
  readonly totalTimeout: number;
  readonly signal?: AbortSignal | undefined;
}

/** The client's settings for `createOnce`, `createAllOnce`, `decide` and `listUndecided`. */
export interface ClientContext extends JournalContext {
  readonly pipeline: RequestPipeline;
  /** How long one attempt of a request may take, in milliseconds. */
  readonly timeout: number;
  readonly platform: Pick<ResolvedPlatform, 'descriptions'>;
  readonly hooks: Hooks;
  readonly api: TransferApi;
  readonly transferSearch: TransferSearch;
  readonly lastSearches: LastSearches;
}

/** The client's settings, with the options of one call of `createOnce` applied. */
export interface OnceContext extends JournalContext {
  readonly platform: Pick<ResolvedPlatform, 'descriptions'>;
  /** Returns the latest `Date` header that this process has seen from the platform; undefined before the first. */
  readonly readPlatformTime: () => number | undefined;
  readonly timeout: number;
  /** The searches that the payments of a batch share; undefined for a single call. */
  readonly sharedSearches: SharedSearches | undefined;
  readonly lastSearches: LastSearches;
  /** The call's own headers, because they may change what the platform lists. */
  readonly headers: RequestOptions['headers'];
  /** When the payment was first requested, by the option `since`. */
  readonly since?: number | undefined;
  readonly reads: ReturnType<typeof createReads>;
}

interface PaymentSearchOptions {
  /** Whether the journal has no entry of the payment, so that a batch may use a recent search's result. */
  readonly isUnclaimed: boolean;
  /** How many milliseconds the search may take. The searches of a batch have no such limit. */
  readonly timeLeft: () => number;
  readonly onPage: () => void;
  readonly isOtherPayment: IsOtherPayment;
}

/** Reads transfers with the options of one call. A batch's payments share searches of the list. */
function createReads(
  { api, transferSearch }: ClientContext,
  options: RequestOptions,
  within: Trace | undefined,
  sharedSearches: SharedSearches | undefined,
) {
  const pageSize = createPageSizes();
  return {
    get: (id: string, timeLeft: number): Promise<Transfer> =>
      api.get(id, options, { within, timeLeft }),
    getAccount: (id: string, timeLeft: number): Promise<unknown> =>
      api.getAccount(id, options, { within, timeLeft }),
    /**
     * Searches the source account's list for a payment. A batch's search serves many payments, so
     * only `isUnclaimed` has an effect there.
     */
    search: (
      search: Search<OnceInput>,
      { isUnclaimed, ...circumstances }: PaymentSearchOptions,
    ): Promise<Reconciliation> => {
      if (sharedSearches === undefined) {
        const scan = { paging: options, pageSize, within, ...circumstances };
        return transferSearch.searchOne(search, scan);
      }
      return isUnclaimed ? sharedSearches.searchUnclaimed(search) : sharedSearches.search(search);
    },
  };
}

/**
 * Applies the options of one call to the client's settings. `since` is the checked option, and
 * `searches` are those of a batch.
 */
export function applyOptions(
  client: ClientContext,
  options: OnceOptions,
  within?: Trace,
  since?: number,
  searches?: SharedSearches,
): OnceContext {
  return {
    ...client,
    journal: options.journal ?? client.journal,
    gracePeriod: options.gracePeriod ?? client.gracePeriod,
    timeout: options.timeout ?? client.timeout,
    totalTimeout: options.totalTimeout ?? client.totalTimeout,
    sharedSearches: searches,
    headers: options.headers,
    since,
    signal: options.signal,
    readPlatformTime: () => client.pipeline.platformTime(),
    reads: createReads(client, selectReadOptions(options), within, searches),
  };
}
