import type { SandboxClock } from './platform/clock.ts';
import { parseHostName } from './platform/hosts.ts';
import type { SandboxWebhookShape } from './webhooks/webhooks.ts';

/** Options of a {@link Sandbox}. */
export interface SandboxOptions {
  /** The source of all timestamps. Default: the system time. */
  clock?: SandboxClock | undefined;
  /** Page size for requests without `limit`, 1 to 100. @default 50 */
  pageSize?: number | undefined;
  /**
   * The order of every list of the versioned API, which the API reference does not name.
   * @default 'oldest_first'
   */
  listOrder?: 'oldest_first' | 'newest_first' | 'shuffled' | undefined;
  /** The API key that is accepted. Default: a fixed one. */
  apiKey?: string | undefined;
  /** The JWT that is accepted. Default: a fixed one. */
  jwt?: string | undefined;
  /**
   * Milliseconds between the automatic steps of Transfers and of the verification of Entities, by the
   * `clock`. Default: no automatic steps.
   */
  autoAdvance?: number | undefined;
  /** Milliseconds before every response. @default 0 */
  latency?: number | undefined;
  /**
   * Returns what to send to the `webhookUrl` for a change, or undefined to send nothing. Default: a
   * body that is marked as made up, because the API reference shows none.
   */
  webhook?: SandboxWebhookShape | undefined;
  /**
   * Hosts that may be called besides `localhost` and loopback addresses, such as
   * `['payments-service']`. A `webhookUrl` with any other host is stored but never called.
   */
  webhookHosts?: readonly string[] | undefined;
}

/** Listed as a record, because the compiler then requires every option. */
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

/** @throws TypeError for an unknown option: a misspelt one would change a test unnoticed. */
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
