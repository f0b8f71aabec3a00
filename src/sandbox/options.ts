import type { SandboxClock } from './platform/clock.ts';
import { parseHostName } from './platform/hosts.ts';
import type { SandboxWebhookShape } from './webhooks/webhooks.ts';

/** Options of a {@link Sandbox}. */
export interface SandboxOptions {
  /** The clock that all timestamps of the sandbox come from. Default: the system time. */
  clock?: SandboxClock | undefined;
  /** How many items a page has when a request has no `limit`, 1 to 100. @default 50 */
  pageSize?: number | undefined;
  /**
   * The order of lists under `/v0`. The API reference does not name an order.
   * @default 'oldest_first'
   */
  listOrder?: 'oldest_first' | 'newest_first' | 'shuffled' | undefined;
  /** The API key that the sandbox accepts. Default: a fixed key. */
  apiKey?: string | undefined;
  /** The JWT that the sandbox accepts. Default: a fixed JWT. */
  jwt?: string | undefined;
  /**
   * Milliseconds by the `clock` after which Transfers, and Entities in verification, take their
   * next status. Default: statuses do not change automatically.
   */
  autoAdvance?: number | undefined;
  /** Milliseconds that the sandbox waits before each response of the API. @default 0 */
  latency?: number | undefined;
  /**
   * A {@link SandboxWebhookShape}, which returns the webhook for a change. Default: a body that is
   * marked as made up, because the API reference shows none.
   */
  webhook?: SandboxWebhookShape | undefined;
  /**
   * Hosts that webhooks may reach besides `localhost` and loopback addresses, such as
   * `['payments-service']`. A `webhookUrl` with any other host is stored but never called.
   */
  webhookHosts?: readonly string[] | undefined;
}

/** Names of a sandbox's options, as keys of a record because the compiler then reports missing names. */
const optionNames = Object.keys({
  clock: true,
  pageSize: true,
  listOrder: true,
  apiKey: true,
  jwt: true,
  autoAdvance: true,
  latency: true,
  webhook: true,
  webhookHosts: true,
} satisfies Record<keyof SandboxOptions, true>);

export function checkWholeNumber(name: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
    return;
  throw new TypeError(`The ${name} of a sandbox must be a whole number from ${least} to ${most}.`);
}

export function checkHostName(text: string): string {
  const name = parseHostName(text);
  if (name !== undefined) return name;
  throw new TypeError(
    `The webhookHosts of a sandbox must be names of hosts, such as "payments-service", not ${JSON.stringify(text)}.`,
  );
}

/**
 * Checks the names of a sandbox's options.
 * @throws TypeError for an unknown option, because a misspelt option would have no effect.
 */
export function checkOptionNames(options: SandboxOptions): void {
  const unknownOption = Object.keys(options).find(
    (name) => !optionNames.some((one) => one === name),
  );
  if (unknownOption !== undefined) {
    throw new TypeError(
      `A sandbox has no option called ${unknownOption}; there are ${optionNames.join(', ')}.`,
    );
  }
}
