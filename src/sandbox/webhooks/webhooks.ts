import { isLoopback } from '../../internal/http.ts';
import { isPlainObject } from '../../internal/objects.ts';
import { stringifyJson } from '../../internal/json.ts';
import { defaultDelayMs, type FaultQueue } from '../faults/faults.ts';
import type { SandboxFault } from '../faults/rule.ts';
import type { Log, LogEnd } from '../log.ts';
import type { SandboxChange } from '../platform/changes.ts';
import type { Platform } from '../platform/platform.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import { sendWebhook } from './send.ts';

/** The webhook that the sandbox sends for a change of a record. */
interface SandboxWebhook {
  /** The body of the webhook: a JSON value, or a string that is sent unchanged. */
  body: unknown;
  /** Further headers of the webhook, such as a signature. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Returns what your platform sends for a change, or undefined if your platform sends nothing. */
export type SandboxWebhookShape = (change: SandboxChange) => SandboxWebhook | undefined;

interface Delivery {
  /** The request id, which is the same for each try of this webhook delivery. */
  readonly requestId: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly fault: SandboxFault['kind'] | undefined;
  /** How many times the sandbox has tried to deliver this webhook. */
  tries: number;
  /** When the next try of this delivery is due, in milliseconds since 1970. */
  dueAt: number;
  /** When this delivery joined the queue. Later than `dueAt` after a jump of the clock or a `reorder` fault. */
  queuedAt: number;
}

const timeoutMs = 5_000;
/** The waits in milliseconds between two tries of a webhook delivery. */
const retryDelaysMs = [1_000, 2_000, 4_000, 8_000, 16_000];
const reorderMs = 1_000;
/** Milliseconds after which the next webhook is sent, even if the previous one has no response. */
const maxTurnMs = 100;

/**
 * Creates the default webhook. `sandbox: true` says that the body is made up, because the API
 * reference shows no payload (docs/gaps.md, row 62).
 */
function createDefaultWebhook({ type, before, after }: SandboxChange): SandboxWebhook | undefined {
  const fields: Readonly<Record<string, unknown>> = { ...(after ?? before) };
  const id = fields['id'] ?? fields['instructionId'] ?? fields['transactionHash'];
  // The Settings have no id. A change of the Settings is not reported, because it is no event on
  // the Platform.
  return id === undefined
    ? undefined
    : { body: { sandbox: true, type, id, status: fields['status'] } };
}

/** Delivers changes of records to the `webhookUrl` of the Settings. */
export class Webhooks {
  readonly #platform: Platform;
  readonly #faults: FaultQueue;
  readonly #log: Log;
  readonly #secrets: readonly string[];
  readonly #shape: SandboxWebhookShape;
  /** Hosts that webhooks may reach besides those of the loopback interface. */
  readonly #hosts: ReadonlySet<string>;
  #queue: Delivery[] = [];
  /** A delivery that a `reorder` fault holds back until the next delivery was sent. */
  #reordered: Delivery | undefined;
  #isSending = false;
  /** The last `webhookUrl` reported as not allowed. The log does not report the same URL again. */
  #rejectedUrl = '';
  #steps = 0;
  /** Grows with each reset and import, so that an older webhook delivery is not tried again. */
  #epoch = 0;

  constructor(
    sandbox: { platform: Platform; faults: FaultQueue; log: Log; secrets: readonly string[] },
    shape: SandboxWebhookShape = createDefaultWebhook,
    hosts: Iterable<string> = [],
  ) {
    this.#platform = sandbox.platform;
    this.#faults = sandbox.faults;
    this.#log = sandbox.log;
    this.#secrets = sandbox.secrets;
    this.#shape = shape;
    this.#hosts = new Set(hosts);
  }

  /** Delivers a change of a record, if the Settings have a `webhookUrl`. */
  add(makeChange: () => SandboxChange): void {
    const url = this.#platform.settings.webhookUrl;
    if (typeof url !== 'string') return;
    const change = makeChange();
    const requestId = `hook_${String(change.id).padStart(6, '0')}`;
    if (!this.#checkHost(url, requestId)) return;
    let webhook: SandboxWebhook | undefined;
    // The caller's function may throw. The change has already happened, so only the log says so.
    try {
      webhook = this.#shape(change);
      if (webhook === undefined) return;
      if (!isPlainObject(webhook) || !('body' in webhook)) {
        throw new TypeError('expected { body } or undefined');
      }
    } catch (cause) {
      const note = `Not sent: the webhook function failed for ${change.type}. ${getMessage(cause)}`;
      this.#addEntry({ requestId, body: '' }, url)({ ms: 0, note });
      return;
    }
    const { body, headers = {} } = webhook;
    const fault = this.#faults.takeWebhook();
    const text = typeof body === 'string' ? body : stringifyJson(body);
    const facts = { requestId, body: text, headers, fault: fault?.kind };
    const delivery = { ...facts, tries: 0, dueAt: this.#now(), queuedAt: 0 };
    this.#route(delivery, fault, url);
  }

  /** Forgets every webhook delivery that waits to be sent or tried again. */
  clear(): void {
    this.#queue = [];
    this.#reordered = undefined;
    this.#rejectedUrl = '';
    this.#epoch += 1;
  }

  #now(): number {
    return this.#platform.clock.now().getTime();
  }

  /** Whether webhooks to the host of this URL are allowed. If not, the log reports the URL once. */
  #checkHost(url: string, requestId: string): boolean {
    // An imported state can contain any string as `webhookUrl`, even a string that is no URL.
    const { hostname = '', protocol = '' } = URL.parse(url) ?? {};
    const isAllowed = isLoopback(hostname) || this.#hosts.has(hostname);
    if (isAllowed && /^https?:$/.test(protocol)) return true;
    if (url === this.#rejectedUrl) return false;
    this.#rejectedUrl = url;
    const note = `Not called: ${hostname} is neither localhost nor a loopback address. Allow it with --webhook-host ${hostname}, in process with webhookHosts.`;
    this.#addEntry({ requestId, body: '' }, url)({ ms: 0, note });
    return false;
  }

  /** Sends a delivery as its fault demands: not at all, later, after the next one, or twice. */
  #route(delivery: Delivery, fault: SandboxFault | undefined, url: string): void {
    if (fault?.kind === 'drop') {
      this.#addEntry(delivery, url)({ ms: 0, note: 'Not sent: a fault dropped it.' });
    } else if (fault?.kind === 'delay') {
      this.#startLater(delivery, fault.ms ?? defaultDelayMs);
    } else if (fault?.kind === 'reorder' && this.#reordered === undefined) {
      this.#reordered = delivery;
      // If no other delivery is sent meanwhile, this one does not wait any longer.
      this.#startStep(this.#now() + reorderMs, () => {
        if (this.#reordered === delivery) this.#sendReordered();
      });
    } else {
      this.#send(...(fault?.kind === 'duplicate' ? [delivery, { ...delivery }] : [delivery]));
      this.#sendReordered();
    }
  }

  #sendReordered(): void {
    const reordered = this.#reordered;
    this.#reordered = undefined;
    if (reordered !== undefined) this.#send(reordered);
  }

  /** Moves `dueAt` by `ms` and sends the delivery then, or at once if that time has passed. */
  #startLater(delivery: Delivery, ms: number): void {
    delivery.dueAt += ms;
    this.#startStep(delivery.dueAt, () => {
      this.#send(delivery);
    });
  }

  #startStep(at: number, run: () => void): void {
    this.#steps += 1;
    this.#platform.schedule.startAt(`webhook ${this.#steps}`, at, run);
  }

  #send(...deliveries: readonly Delivery[]): void {
    const queuedAt = this.#now();
    this.#queue.push(...deliveries.map((delivery) => Object.assign(delivery, { queuedAt })));
    if (!this.#isSending) void this.#sendAll();
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true;
    // Let the code that changed the record continue before the sandbox sends the webhook.
    await Promise.resolve();
    for (let delivery; (delivery = this.#queue.shift()) !== undefined;) {
      const { promise: turn, resolve: endTurn } = Promise.withResolvers<void>();
      const cancelTimer = this.#platform.clock.startTimer(endTurn, maxTurnMs);
      await Promise.race([this.#try(delivery), turn]);
      cancelTimer();
    }
    this.#isSending = false;
  }

  /** Tries to deliver a webhook, logs the result, and schedules another try after a failure. */
  async #try(delivery: Delivery): Promise<void> {
    const epoch = this.#epoch;
    const { webhookUrl: url } = this.#platform.settings;
    if (typeof url !== 'string') {
      this.#addEntry(delivery, '')({ ms: 0, note: 'Not sent: webhookUrl is null by now.' });
      return;
    }
    if (!this.#checkHost(url, delivery.requestId)) return;
    const started = this.#now();
    const completeEntry = this.#addEntry(delivery, url);
    delivery.tries += 1;
    const { problem, ...response } = await this.#post(delivery, url);
    const ms = this.#now() - started;
    // A reset or an import changes the epoch, and no other try follows.
    if (problem === undefined || epoch !== this.#epoch) {
      completeEntry({ ms, ...response });
      return;
    }
    const retryDelayMs = retryDelaysMs[delivery.tries - 1]; // undefined after the last try
    const whatFollows =
      retryDelayMs === undefined
        ? `The sandbox gave up after ${delivery.tries} tries.`
        : `The next try follows in ${retryDelayMs / 1000} s.`;
    completeEntry({ ms, ...response, note: `${problem} ${whatFollows}` });
    const passedMs = this.#now() - delivery.queuedAt;
    if (retryDelayMs !== undefined) this.#startLater(delivery, passedMs + retryDelayMs);
  }

  /** Sends a webhook. Returns the handler's response, a problem, or both. */
  async #post(
    { body, headers }: Delivery,
    url: string,
  ): Promise<Pick<LogEnd, 'status' | 'response'> & { problem?: string }> {
    const aborter = new AbortController();
    // An abort cannot end the look-up of a host name, so a promise that rejects ends the wait too.
    const { promise: timeout, reject } = Promise.withResolvers<never>();
    const cancelTimer = this.#platform.clock.startTimer(() => {
      reject(new Error(`No complete response within ${timeoutMs / 1000} s.`));
      aborter.abort();
    }, timeoutMs);
    try {
      const isAllowedHost = this.#hosts.has(new URL(url).hostname);
      const { signal } = aborter;
      const request = { url: new URL(url), headers, body, signal, isAllowedHost };
      const { status, body: text } = await Promise.race([sendWebhook(request), timeout]);
      const response = text === '' ? undefined : text;
      if (status >= 200 && status < 300) return { status, response };
      const isRedirect = status >= 300 && status < 400;
      const problem = isRedirect
        ? `The handler responded ${status}, and no redirect is followed.`
        : `The handler responded ${status}.`;
      return { status, response, problem };
    } catch (cause) {
      return { problem: getMessage(cause).replace(/[^.]$/, '$&.') };
    } finally {
      cancelTimer();
    }
  }

  /**
   * Adds a delivery to the log, without the user name and the password in its URL. Call the
   * returned function with the result of the delivery.
   */
  #addEntry(
    delivery: Pick<Delivery, 'requestId' | 'body'> & Partial<Delivery>,
    url: string,
  ): (end: LogEnd) => void {
    const { requestId, body, fault } = delivery;
    return this.#log.add(
      {
        time: new Date(this.#now()).toISOString(),
        method: 'POST',
        path: url.replace(/\/\/[^/?#]*@/, '//'),
        query: {},
        body,
        operation: 'webhook',
        requestId,
        fault,
      },
      this.#secrets,
    );
  }
}
