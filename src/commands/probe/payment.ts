import {
  ApiError,
  AuthenticationError,
  PaymentsError,
  type AccountId,
  type Outcome,
  type TransferCreateInput,
} from '../../index.ts';
import { extractLetters } from '../../search/compare.ts';
import { readEnvelope, type Row } from './lists.ts';
import { ProbeEnded, type Platform, type Reading } from './platform.ts';

/** The transfer of `--pay`, confirmed on the terminal or by `--yes`. */
export interface PaymentOrder {
  readonly amount: string;
  readonly from: AccountId;
  readonly to: AccountId;
  /** Whether a second, equal request follows. */
  readonly twice: boolean;
}

/** A request that makes the transfer, and its response. */
export interface Creation {
  readonly id: string | undefined;
  readonly status: number | undefined;
  readonly headers: Headers;
  readonly body: Row;
  /** Of the call; `accepted` if it did not fail. */
  readonly outcome: 'accepted' | Outcome;
  /** Status and code of a failure. */
  readonly problem: string;
}

/** What became of the transfer. */
export interface Payment {
  readonly description: string;
  readonly first: Creation;
  readonly second: Creation | undefined;
  /** The transfer by its id, and in the list. */
  readonly record: Row | undefined;
  readonly listed: Row | undefined;
  /**
   * Milliseconds from the last creation response until the transfer was readable by its id; undefined if it
   * never was.
   */
  readonly readableAfterMs: number | undefined;
  readonly listedAfterMs: number | undefined;
  readonly watchedMs: number;
  /** Each status once, in the order in which they were seen. */
  readonly statuses: readonly string[];
}

export const idempotencyHeader = 'Idempotency-Key';

const pollDelaysMs = [0, 1_000, 2_000, 4_000, 8_000, 15_000, 30_000];
const maxPagesOfPoll = 8;
export const isFinalStatus = (status: string): boolean =>
  ['completed', 'failed', 'cancelled'].includes(status);

/**
 * Returns a reference of the maximum length with what a platform may rewrite: case, double spaces, signs. Its first words
 * stay unique after such a rewrite.
 */
function createDescription(token: string): string {
  const start = `Probe ${token}  a/B-c.D_e:F#g `;
  return `${start}${'Reference0'.repeat(14)}`.slice(0, 140);
}

/** @throws ProbeEnded if the key cannot read one of the accounts. No payment was sent. */
export async function checkAccounts(platform: Platform, order: PaymentOrder): Promise<void> {
  for (const [flag, id] of [
    ['--from', order.from],
    ['--to', order.to],
  ] as const) {
    const { problem } = await platform.get(`/accounts/${id}`);
    if (problem === undefined) continue;
    throw new ProbeEnded(
      `${flag} ${id} is no account that this key can read: ${problem}\nNothing was paid.`,
    );
  }
}

/** Makes the transfer, and watches it for up to a minute. */
export async function makePayment(platform: Platform, order: PaymentOrder): Promise<Payment> {
  const { amount, from, to, twice } = order;
  const token = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) =>
    (byte % 36).toString(36),
  ).join('');
  const description = createDescription(token);
  const input = { sourceAccountId: from, destinationAccountId: to, amount, description };
  const headers = twice ? { [idempotencyHeader]: `probe-${token}` } : {};
  const first = await create(platform, input, headers);
  const isAccepted = first.outcome === 'accepted';
  const second = twice && isAccepted ? await create(platform, input, headers) : undefined;
  const watch = new Watch(platform, from, first.id, extractLetters(`Probe${token}`));
  if (isAccepted || first.outcome === 'unknown') await watch.run();
  return { description, first, second, ...watch.result() };
}

const failed = { id: undefined, headers: new Headers(), body: {}, problem: '' };

/** A request that was sent once, whatever came of it. */
async function create(
  platform: Platform,
  input: TransferCreateInput,
  headers: Readonly<Record<string, string>>,
): Promise<Creation> {
  try {
    const { data, response } = await platform.write((payments) =>
      payments.transfers.create(input, { headers, maxRetries: 0 }).withResponse(),
    );
    const { id } = data;
    const { status } = response;
    return {
      ...failed,
      id,
      status,
      headers: response.headers,
      body: { ...data },
      outcome: 'accepted',
    };
  } catch (error) {
    if (!(error instanceof PaymentsError) || error instanceof AuthenticationError) throw error;
    const status = error.attempts.at(-1)?.status;
    const code = error instanceof ApiError ? (error.code ?? '') : error.name;
    return { ...failed, status, outcome: error.outcome, problem: [status, code].join(' ').trim() };
  }
}

/** Looks for the transfer, by its id and in the list, until it is there and final. */
class Watch {
  readonly #platform: Platform;
  /** Empty once the platform has rejected it. */
  #filter: { readonly accountId?: AccountId };
  readonly #letters: string;
  readonly #start: number;
  #id: string | undefined;
  #record: Row | undefined;
  #listed: Row | undefined;
  #readableAfterMs: number | undefined;
  #listedAfterMs: number | undefined;
  readonly #statuses: string[] = [];
  /** Where the last page that was read starts; a list that is oldest first grows there. */
  #tail: string | undefined;

  constructor(platform: Platform, from: AccountId, id: string | undefined, letters: string) {
    this.#platform = platform;
    this.#filter = { accountId: from };
    this.#id = id;
    this.#letters = letters;
    this.#start = platform.clock.elapsed();
  }

  get #elapsed(): number {
    return this.#platform.clock.elapsed() - this.#start;
  }

  async run(): Promise<void> {
    for (const delay of pollDelaysMs) {
      await this.#platform.clock.wait(delay);
      try {
        await this.#readById();
        if (this.#listed === undefined) await this.#findInList();
      } catch (error) {
        // The report has to name the transfer, although nothing more can be read.
        if (error instanceof ProbeEnded) return;
        throw error;
      }
      const isFinal = isFinalStatus(this.#statuses.at(-1) ?? '');
      if (this.#listed !== undefined && this.#record !== undefined && isFinal) return;
    }
  }

  result(): Omit<Payment, 'description' | 'first' | 'second'> {
    return {
      record: this.#record,
      listed: this.#listed,
      readableAfterMs: this.#readableAfterMs,
      listedAfterMs: this.#listedAfterMs,
      watchedMs: this.#elapsed,
      statuses: this.#statuses,
    };
  }

  async #readById(): Promise<void> {
    if (this.#id === undefined) return;
    const { body, problem } = await this.#platform.read(`/transfers/${this.#id}`);
    if (problem !== undefined) return;
    this.#readableAfterMs ??= this.#elapsed;
    this.#record = body as Row;
    const status = String(this.#record['status']);
    if (this.#statuses.at(-1) !== status) this.#statuses.push(status);
  }

  async #findInList(): Promise<void> {
    let cursor: string | undefined;
    for (let pages = 0; pages < maxPagesOfPoll; pages += 1) {
      const { body, problem } = await this.#readPage(cursor);
      if (problem !== undefined) return;
      const page = readEnvelope(body);
      const row = page.rows.find((each) => this.#isOurs(each));
      if (row !== undefined) {
        this.#listed = row;
        this.#listedAfterMs = this.#elapsed;
        this.#id ??= String(row['id']);
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
    const isRejected = reading.status === 400 || reading.status === 422;
    if (!isRejected || this.#filter.accountId === undefined) return reading;
    this.#filter = {};
    return this.#readPage(cursor);
  }

  #isOurs({ id, description }: Row): boolean {
    if (this.#id !== undefined) return id === this.#id;
    return typeof description === 'string' && extractLetters(description).startsWith(this.#letters);
  }
}
