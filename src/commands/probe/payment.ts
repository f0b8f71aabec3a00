import {
  ApiError,
  PaymentsError,
  sumAmounts,
  type Outcome,
  type TransferCreateInput,
} from '../../index.ts';
import { extractLetters } from '../../search/compare.ts';
import { readEnvelope, readTransfers, type Row } from './lists.ts';
import { ProbeEnded, type PlatformReader, type Reading } from './platform-reader.ts';

/** The transfer that `--pay` makes after the operator has confirmed. */
export interface PaymentOrder {
  readonly amount: string;
  readonly from: string;
  readonly to: string;
  /** Whether more requests with the same Idempotency-Key follow the first one. */
  readonly twice: boolean;
}

/** A request of the probe that should make a transfer, and the response to the request. */
export interface Creation {
  readonly amount: string;
  readonly id: string | undefined;
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly body: Row;
  /** Outcome of the request, or `accepted` if the call succeeded. */
  readonly outcome: 'accepted' | Outcome;
  /** Status and code of a failed request. Empty after a success. */
  readonly problem: string;
  /** Whether the platform itself rejected the request, and would reject the same request again. */
  readonly isRefused: boolean;
}

/**
 * The requests that `--pay-twice` sends after its first transfer. The probe stops as soon as a
 * response shows that the platform ignores the Idempotency-Key.
 */
export interface KeyTrial {
  /** A request with the Idempotency-Key of the first one, but another amount and description. */
  readonly other: Creation;
  /** A request with the same Idempotency-Key and the same body as the first request. */
  readonly equal?: Creation;
  /** The request `other` again, but with a new Idempotency-Key. Has to make another transfer. */
  readonly control?: Creation;
  readonly listed: ProbeListing;
}

/** The transfers of this probe that the list shows, found by their descriptions. */
interface ProbeListing {
  readonly rows: readonly Row[];
  readonly isComplete: boolean;
}

/** What the probe has seen of the transfer that it made. */
export interface Payment {
  readonly description: string;
  /** A sentence that tells an operator how to find the transfer. */
  readonly search: string;
  readonly first: Creation;
  readonly keyTrial: KeyTrial | undefined;
  readonly watch: Pick<Watch, 'listed' | 'record' | 'listedAfterMs' | 'elapsed'>;
}

export const idempotencyHeader = 'Idempotency-Key';

const pollDelaysMs = [0, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
const maxPagesOfPoll = 8;
/** Pauses before each look for the transfer in the list, in all less than 10 seconds. */
const lookDelaysMs = [0, 2_000, 4_000];

/**
 * Returns a description of the maximum length that contains what a platform may rewrite: capitals,
 * double spaces, signs. The first words stay unique even after such a change.
 */
function createDescription(start: string): string {
  return `${start}  a/B-c.D_e:F#g ${'Reference0'.repeat(14)}`.slice(0, 140);
}

/** @throws ProbeEnded if the API key cannot read both accounts. No payment was sent then. */
export async function checkAccounts(platform: PlatformReader, order: PaymentOrder): Promise<void> {
  for (const end of ['from', 'to'] as const) {
    const { problem } = await platform.get(`/accounts/${order[end]}`);
    if (problem === undefined) continue;
    throw new ProbeEnded(
      `--${end} ${order[end]} is no account that this key can read: ${problem}\nNothing was paid.`,
    );
  }
}

/**
 * Makes the transfer of `--pay`, and watches the transfer for up to a minute. With `twice`, sends
 * the transfer again under the same idempotency key, to see whether the platform pays once.
 * @param onPaying is called before the first byte is sent. `search` says how to find the transfer
 */
export async function makePayment(
  platform: PlatformReader,
  order: PaymentOrder,
  onPaying: (search: string) => void,
): Promise<Payment> {
  const { amount, from, to, twice } = order;
  platform.allowPayment();
  const token = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    (byte % 36).toString(36),
  ).join('');
  const start = `Probe ${token}`;
  const description = createDescription(start);
  const search = `Its description is "${description}". Look for "${start}" in all pages of GET /transfers?accountId=${from}.`;
  onPaying(search);
  const input = { sourceAccountId: from, destinationAccountId: to, amount, description };
  const key = twice ? `probe-${token}` : undefined;
  const first = await create(platform, input, key);
  // Without an id the watch finds the transfer by the letters at the start of its description.
  const watch = new Watch(platform, from, first.id, extractLetters(start));
  const isAccepted = first.outcome === 'accepted';
  const keyRequests =
    key !== undefined && isAccepted
      ? await sendAgain(platform, watch, { input, key, start, first })
      : undefined;
  if (isAccepted || first.outcome === 'unknown') await watch.run();
  const keyTrial = keyRequests && { ...keyRequests, listed: await watch.listAll() };
  return { description, search, first, keyTrial, watch };
}

/**
 * Tries whether the platform honours the Idempotency-Key. A platform may recognise duplicates by
 * their terms, so only two requests that differ in nothing but the key show that it reads the key.
 */
async function sendAgain(
  platform: PlatformReader,
  watch: Watch,
  {
    input,
    key,
    start,
    first,
  }: {
    readonly input: TransferCreateInput;
    readonly key: string;
    readonly start: string;
    readonly first: Creation;
  },
): Promise<Omit<KeyTrial, 'listed'>> {
  // Raises the amount by its last decimal, so that the amount stays small and keeps its form.
  const [, decimals = ''] = input.amount.split('.');
  const step = decimals === '' ? '1' : `0.${'1'.padStart(decimals.length, '0')}`;
  const otherInput = {
    ...input,
    amount: sumAmounts([input.amount, step]),
    description: createDescription(`${start} other`),
  };
  const returnedFirst = ({ id }: Creation): boolean => id === first.id;
  // A platform that honours the key returns the first transfer, or rejects other terms.
  const other = await create(platform, otherInput, key);
  if (!returnedFirst(other) && !other.isRefused) return { other };
  const equal = await create(platform, input, key);
  if (!returnedFirst(equal) || !(await watch.isAlone())) return { other, equal };
  return { other, equal, control: await create(platform, otherInput, `${key}-control`) };
}

/**
 * Sends the POST of a transfer once, with the Idempotency-Key `key` if there is one. Returns what
 * came of the request, even if the request failed.
 */
async function create(
  platform: PlatformReader,
  input: TransferCreateInput,
  key: string | undefined,
): Promise<Creation> {
  const { amount } = input;
  const emptyResult = { amount, id: undefined, headers: new Headers(), body: {}, isRefused: false };
  const requestHeaders = key === undefined ? {} : { [idempotencyHeader]: key };
  try {
    const { data, response } = await platform.write((payments) =>
      payments
        // Without `idempotencyHeader`, the client rejects a transfer id that an earlier response had.
        .withOptions(key === undefined ? {} : { platform: { idempotencyHeader } })
        .transfers.create(input, { headers: requestHeaders, maxRetries: 0 })
        .withResponse(),
    );
    const { status } = response;
    return {
      ...emptyResult,
      id: data.id,
      status,
      headers: response.headers,
      body: { ...data },
      outcome: 'accepted',
      problem: '',
    };
  } catch (error) {
    if (error instanceof ProbeEnded) {
      return { ...emptyResult, status: undefined, outcome: 'not_sent', problem: error.message };
    }
    // A 401 does not end the probe here, because a proxy may send it after the platform has paid.
    if (!(error instanceof PaymentsError)) throw error;
    const { outcome, retryable } = error;
    const status = error.attempts.at(-1)?.status;
    const code = error instanceof ApiError ? error.code : undefined;
    const problem = [status, code ?? error.name].join(' ').trim();
    const isRefused = outcome === 'rejected' && code !== undefined && !retryable;
    return { ...emptyResult, status, outcome, problem, isRefused };
  }
}

/** Looks for the transfer in the list for about a minute, or until the list shows it. */
class Watch {
  readonly #platform: PlatformReader;
  /** The account filter of the list. Empty after the platform has rejected the filter. */
  #filter: { readonly accountId?: string };
  readonly #letters: string;
  readonly #start: number;
  readonly #id: string | undefined;
  /** The transfer as a GET by its id returns it, if the list does not show it. */
  record: Row | undefined;
  /** The transfer as the list shows it. */
  listed: Row | undefined;
  /** Milliseconds from the response to the POST until the list showed the transfer. */
  listedAfterMs: number | undefined;
  /** Cursor of the last page so far, because a list that is oldest first shows new transfers there. */
  #tail: string | undefined;

  constructor(platform: PlatformReader, from: string, id: string | undefined, letters: string) {
    this.#platform = platform;
    this.#filter = { accountId: from };
    this.#id = id;
    this.#letters = letters;
    this.#start = platform.clock.elapsed();
  }

  /** Milliseconds since the response to the POST. */
  get elapsed(): number {
    return this.#platform.clock.elapsed() - this.#start;
  }

  /** Polls for about a minute, or until the transfer is listed. */
  async run(): Promise<void> {
    try {
      for (const delay of pollDelaysMs) {
        await this.#platform.clock.wait(delay);
        await this.#findInList();
        if (this.listed !== undefined) return;
      }
      if (this.#id === undefined) return;
      const { body, problem } = await this.#platform.read(`/transfers/${this.#id}`);
      if (problem === undefined) this.record = body as Row;
    } catch (error) {
      // Stops watching without an error, because the report still has to name the transfer.
      if (!(error instanceof ProbeEnded)) throw error;
    }
  }

  /** Whether the list shows the probe's first transfer, and no other transfer of the probe. */
  async isAlone(): Promise<boolean> {
    for (const delay of lookDelaysMs) {
      await this.#platform.clock.wait(delay);
      const { rows, isComplete } = await this.listAll();
      if (!isComplete || rows.some(({ id }) => id !== this.#id)) return false;
      if (rows.length > 0) return true;
    }
    return false;
  }

  /** Reads the list of transfers from its start, because each page may have a transfer of this probe. */
  async listAll(): Promise<ProbeListing> {
    try {
      const options = { filter: this.#filter, pages: maxPagesOfPoll, isFresh: true };
      const listing = await readTransfers(this.#platform, options);
      const { rows, readings, isComplete } = listing;
      if (this.#dropFilter(readings[0])) return await this.listAll();
      const ours = rows.filter((row) => this.#isDescribedAsOurs(row));
      return { rows: [...new Map(ours.map((row) => [row['id'], row])).values()], isComplete };
    } catch (error) {
      if (error instanceof ProbeEnded) return { rows: [], isComplete: false };
      throw error;
    }
  }

  /**
   * Looks for the transfer on some pages of the list. After the first page, a poll continues at the
   * tail that an earlier poll reached, because a list that is oldest first grows there.
   */
  async #findInList(): Promise<void> {
    let cursor: string | undefined;
    for (let pages = 0; pages < maxPagesOfPoll; pages += 1) {
      const { body, problem } = await this.#readPage(cursor);
      if (problem !== undefined) return;
      const page = readEnvelope(body);
      const row = page.rows.find((each) => this.#isOurs(each));
      if (row !== undefined) {
        this.listed = row;
        this.listedAfterMs = this.elapsed;
        return;
      }
      if (page.cursor === undefined) return;
      cursor = pages === 0 ? (this.#tail ?? page.cursor) : page.cursor;
      this.#tail = cursor;
    }
  }

  async #readPage(cursor: string | undefined): Promise<Reading> {
    const position = cursor === undefined ? {} : { cursor };
    const query = { ...this.#filter, limit: 100, ...position };
    const reading = await this.#platform.read('/transfers', query);
    return this.#dropFilter(reading) ? this.#readPage(cursor) : reading;
  }

  /** If the platform has just rejected the account filter, drops the filter and returns true. */
  #dropFilter(reading: Reading | undefined): boolean {
    const isRejected = reading?.status === 400 || reading?.status === 422;
    if (!isRejected || this.#filter.accountId === undefined) return false;
    this.#filter = {};
    return true;
  }

  #isOurs(row: Row): boolean {
    return this.#id === undefined ? this.#isDescribedAsOurs(row) : row['id'] === this.#id;
  }

  #isDescribedAsOurs({ description }: Row): boolean {
    return typeof description === 'string' && extractLetters(description).startsWith(this.#letters);
  }
}
