import { isPlainObject } from '../../internal/objects.ts';
import { oneLine } from '../../internal/text.ts';
import type { SandboxLogEntry } from '../log.ts';
import type { Sandbox } from '../sandbox.ts';
import type { SandboxServer } from '../server.ts';

/** Where the command prints its log, such as stdout. */
interface Terminal {
  write(text: string): unknown;
  /** Whether the terminal shows colours; false if NO_COLOR is set. Files lack this method. */
  hasColors?(): boolean;
}

const red = 31;
const green = 32;
const yellow = 33;
const dim = 2;

/** Prints a line for each new entry of a sandbox's log. */
export function writeLog(sandbox: Sandbox, terminal: Terminal): void {
  const paint = (colour: number, text: string) =>
    terminal.hasColors?.() === true ? `\u001b[${colour}m${text}\u001b[0m` : text;
  sandbox.onLog((entry) => {
    terminal.write(`${formatLine(entry, paint)}\n`);
  });
}

function chooseColour(status: number | undefined): number {
  if (status === undefined || status >= 500) return red;
  return status >= 400 ? yellow : green;
}

/** Returns why the sandbox rejected a request, or why a webhook delivery failed. */
function findReason({ status = 0, response, note }: SandboxLogEntry): string | undefined {
  if (note !== undefined || status < 400 || !isPlainObject(response)) return note;
  const { error } = response;
  return typeof error === 'string' ? error : undefined;
}

/** Formats a log entry as one line. `paint` adds a colour if the terminal shows colours. */
function formatLine(
  entry: SandboxLogEntry,
  paint: (colour: number, text: string) => string,
): string {
  const { time, method, path, status, ms, operation, requestId, fault } = entry;
  const reason = findReason(entry);
  return [
    paint(dim, time.slice(11, 23)), // the time of day with milliseconds
    method.padEnd(6),
    path,
    paint(chooseColour(status), String(status ?? '---')),
    `${ms} ms`,
    operation ?? '(no operation)',
    paint(dim, requestId),
    ...(fault === undefined ? [] : [paint(red, `fault ${fault}`)]),
    // The reason may contain text that a caller sent. A line break in that text must not create a
    // false line of the log.
    ...(reason === undefined ? [] : [oneLine(reason)]),
  ].join('  ');
}

/** How many Accounts and Counterparties the start-up message lists, because a few are enough. */
const maxShown = 8;

/** Creates the start-up message with environment variables, Accounts and Counterparties. */
export function formatBanner(sandbox: Sandbox, server: SandboxServer, storageNote: string): string {
  const { baseUrl, rootUrl, apiKey, jwt } = server.clientOptions;
  return `The payments sandbox is up. Paste these lines into the shell of your service:

export PAYMENTS_BASE_URL=${baseUrl}
export PAYMENTS_ROOT_URL=${rootUrl}
export PAYMENTS_API_KEY=${apiKey}
export PAYMENTS_JWT=${jwt}

Watch it at ${rootUrl}/
${formatParties(sandbox)}${storageNote} Stop it with Ctrl+C.
`;
}

function formatParties({ accounts, counterparties }: Sandbox): string {
  const money = accounts.list().map(({ id, name, availableBalance, currency }) => ({
    id,
    rest: `${availableBalance} ${currency}  ${name}`,
  }));
  const payees = counterparties.list().map(({ id, name, type }) => ({
    id,
    rest: `${type === 'wallet' ? 'a wallet' : 'a bank account'}  ${name}`,
  }));
  return `${formatSection('Accounts with money:', money)}${formatSection('Counterparties to pay:', payees)}\n`;
}

function formatSection(title: string, rows: readonly { id: string; rest: string }[]): string {
  if (rows.length === 0) return '';
  const lines = rows.slice(0, maxShown).map(({ id, rest }) => `  ${id}  ${rest}\n`);
  const more = rows.length - maxShown;
  return `\n${title}\n${lines.join('')}${more > 0 ? `  and ${more} more\n` : ''}`;
}
