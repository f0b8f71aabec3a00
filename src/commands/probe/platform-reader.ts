import {
  ApiError,
  AuthenticationError,
  InvalidResponseError,
  PaymentsError,
  type AnyRequest,
  type PaymentsClient,
} from '../../index.ts';
import { isObject } from '../../internal/objects.ts';

/** The clock that the probe uses. Tests pass a clock that does not wait. */
export interface ProbeClock {
  now(): number;
  elapsed(): number;
  wait(ms: number): Promise<void>;
}

/** One request of the probe and its response, if a response came. */
export interface Reading {
  /** The HTTP status of the response. Undefined if no response came. */
  readonly status: number | undefined;
  readonly headers: Headers;
  /** The parsed JSON body of the response. Undefined if the body is not JSON. */
  readonly body: unknown;
  /** Time when the response had arrived, by this machine's clock. */
  readonly receivedAt: number;
  /** Why the response cannot be used. Undefined for a 2xx with JSON. */
  readonly problem: string | undefined;
}

/** Error that ends the whole probe. The message says what the user has to check. */
export class ProbeEnded extends Error {}

/** How many requests the probe sends at most to read. */
const maxRequests = 100;
/** How many requests more the probe may send to make a payment and to watch the transfer. */
const requestsOfPayment = 80;
/** Milliseconds between two requests of the probe, so that no second has more than five. */
const minGapMs = 250;
/** The probe sends a read up to three times, as the client does by default. */
const maxTries = 3;
const retryDelayMs = 1_000;
const maxWaitMs = 300_000;
/** The probe ends after this many reads in a row without a response. */
const maxSilent = 3;

type Query = NonNullable<AnyRequest['query']>;

/** Sends the probe's requests at a limited rate, counts them, and retries reads. */
export class PlatformReader {
  readonly clock: ProbeClock;
  requests = 0;
  readonly #cache = new Map<string, Promise<Reading>>();
  readonly #payments: PaymentsClient;
  #nextStart = Number.NEGATIVE_INFINITY;
  #silent = 0;
  #hasResponded = false;
  #limit = maxRequests;

  constructor(payments: PaymentsClient, clock: ProbeClock) {
    this.#payments = payments;
    this.clock = clock;
  }

  get baseUrl(): string {
    return this.#payments.toJSON().baseUrl;
  }

  /** Reads a path of the API once. Later checks get the same response. */
  get(path: string, query: Query = {}): Promise<Reading> {
    const key = JSON.stringify([path, query]);
    const reading = this.#cache.get(key) ?? this.read(path, query);
    this.#cache.set(key, reading);
    return reading;
  }

  /**
   * Reads a path of the API now, even if an earlier check has read the path. Sends the read up to
   * three times, with pauses, and returns the last reading, even if it failed.
   */
  async read(path: string, query: Query = {}): Promise<Reading> {
    for (let tries = 1; ; tries += 1) {
      if (!(await this.#takeTurn())) return createReading({ problem: spentMessage });
      const { reading, error } = await this.#readOnce(path, query);
      if (error === undefined || tries === maxTries || !error.retryable) {
        this.#countSilence(reading);
        return reading;
      }
      const waitMs = error.retryAfterMs ?? retryDelayMs * tries;
      if (waitMs > maxWaitMs) {
        const minutes = Math.ceil(waitMs / 60_000);
        throw new ProbeEnded(
          `The platform asked for a wait of ${minutes} minutes (Retry-After). Run the probe again after that.`,
        );
      }
      await this.clock.wait(waitMs);
    }
  }

  /** Sends one write without retries. Only a payment that the operator confirmed uses this. */
  async write<T>(send: (payments: PaymentsClient) => Promise<T>): Promise<T> {
    if (!(await this.#takeTurn())) throw new ProbeEnded(spentMessage);
    return send(this.#payments);
  }

  /** Raises the limit, so that requests are left to watch a payment. */
  allowPayment(): void {
    this.#limit = this.requests + requestsOfPayment;
  }

  /** Waits until the next request may start. False if the limit of requests is reached. */
  async #takeTurn(): Promise<boolean> {
    if (this.requests >= this.#limit) return false;
    const wait = this.#nextStart - this.clock.elapsed();
    if (wait > 0) await this.clock.wait(wait);
    this.#nextStart = this.clock.elapsed() + minGapMs;
    this.requests += 1;
    return true;
  }

  /** Sends a read once. A failed call gives a reading, too, with the client's error beside it. */
  async #readOnce(
    path: string,
    query: Query,
  ): Promise<{ reading: Reading; error?: PaymentsError }> {
    const request = { method: 'GET', path, api: 'versioned', query } as const;
    const finish = (facts: Partial<Reading>): Reading =>
      createReading({ receivedAt: this.clock.now(), ...facts });
    try {
      const { data, response } = await this.#payments.request(request).withResponse();
      const { status, headers } = response;
      const problem = isObject(data) ? undefined : 'no JSON object';
      return { reading: finish({ status, headers, body: data, problem }) };
    } catch (error) {
      if (!(error instanceof PaymentsError)) throw error;
      if (error instanceof AuthenticationError) throw new ProbeEnded(describeRejection(path));
      const problem = describeProblem(error);
      if (error instanceof ApiError) {
        const { status, body: text } = error;
        const headers = new Headers({ ...error.headers, 'content-type': guessType(text) });
        return { error, reading: finish({ status, headers, body: parseIfJson(text), problem }) };
      }
      const status = error.attempts.at(-1)?.status;
      return { error, reading: finish({ status, problem }) };
    }
  }

  #countSilence({ status, problem }: Reading): void {
    this.#silent = status === undefined || status >= 500 ? this.#silent + 1 : 0;
    this.#hasResponded ||= status !== undefined;
    if (this.#silent < maxSilent && this.#hasResponded) return;
    throw new ProbeEnded(
      `The platform does not respond: ${problem ?? 'no response'}\nCheck PAYMENTS_BASE_URL (${this.baseUrl}) and the network.`,
    );
  }
}

const spentMessage = 'the limit of requests was reached';

const createReading = (facts: Partial<Reading>): Reading => ({
  status: undefined,
  headers: new Headers(),
  body: undefined,
  receivedAt: 0,
  problem: undefined,
  ...facts,
});

function describeProblem(error: PaymentsError): string {
  if (error instanceof ApiError) {
    const code = error.code === undefined ? '' : ` ${error.code}`;
    const type = guessType(error.body);
    return `${error.status}${code}${type === 'application/json' ? '' : ` (${type})`}`;
  }
  if (error instanceof InvalidResponseError) return `a 2xx with an unusable body (${error.reason})`;
  return `${error.name}, ${error.attempts.at(-1)?.reason ?? error.outcome}`;
}

/** Guesses the content type of an error response from its body, because the error does not have the header. */
function guessType(text: string): string {
  if (/^\s*[[{]/.test(text)) return 'application/json';
  return /^\s*</.test(text) ? 'text/html' : 'text/plain';
}

const describeRejection = (path: string): string =>
  `The platform rejected PAYMENTS_API_KEY (401 at GET ${path}). Check that it is complete, not expired, and of the platform at PAYMENTS_BASE_URL.`;

function parseIfJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
