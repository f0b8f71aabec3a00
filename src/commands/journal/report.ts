import { isObject } from '../../internal/objects.ts';
import { formatTime } from '../../internal/text.ts';
import type { PaymentTransition, UndecidedPayment } from '../../once/list-undecided.ts';
import type { JournalEntry, JournalTransition } from '../../journals/journal.ts';
import { clean, formatColumns } from '../table.ts';

/** Names of the fields of a journal entry that hold a time. */
const timeNames = new Set([
  'claimedAt',
  'deadline',
  'expiresAt',
  'firstClaimedAt',
  'platformTime',
  'paidAt',
  'resolvedAt',
]);

/** No payment has a time before 2001. 0.4.0 wrote 0 for a time that it did not know. */
const isKnown = (time: unknown): time is number => Number(time) >= 1e12;
const formatKnownTime = (time: unknown): string => (isKnown(time) ? formatTime(time) : 'unknown');

/** The table of open payments that `list` prints. `now` is the time by the journal's clock. */
export function formatTable(payments: readonly UndecidedPayment[], now: number): string {
  const rows = payments.map((payment) => {
    if (payment.state === 'unreadable') {
      return [payment.reference, payment.state, '', '', '', '', '', '', ''].map(clean);
    }
    const { reference, state, firstClaimedAt, expiresAt, host, input, candidates = [] } = payment;
    const claimedAt = Date.parse(firstClaimedAt);
    const { amount, currency = '', sourceAccountId } = input;
    return [
      reference,
      state,
      isKnown(claimedAt) ? formatAge(now - claimedAt) : '',
      expiresAt === null ? 'never' : formatExpiry(Date.parse(expiresAt) - now),
      host,
      `${amount} ${currency}`.trim(),
      sourceAccountId,
      input.destinationAccountId ?? input.counterpartyId,
      candidates.join(' '),
    ].map(clean);
  });
  const header = ['REFERENCE', 'STATE', 'AGE', 'EXPIRES', 'HOST', 'AMOUNT', 'FROM', 'TO'];
  const hasCandidates = payments.some((payment) => 'candidates' in payment);
  const table = [[...header, ...(hasCandidates ? ['CANDIDATES'] : [])], ...rows];
  const count = payments.length === 1 ? '1 payment is' : `${payments.length} payments are`;
  return `${formatColumns(table).join('\n')}\n\n${count} undecided.\n`;
}

/** An entry of the journal, as `list --json` prints entries, with all times in ISO 8601. */
export const describeEntry = (reference: string, entry: JournalEntry): object => ({
  reference,
  ...Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [
      name,
      timeNames.has(name) && value !== null ? formatKnownTime(value) : value,
    ]),
  ),
  history: describeHistory(entry),
});

/** Returns an entry's history like listUndecided. Skips items of other programs that are no objects. */
const describeHistory = ({ history }: { history?: unknown }): readonly PaymentTransition[] =>
  (Array.isArray(history) ? history.filter(isObject) : []).map((transition) => {
    const { at, ...others } = transition as JournalTransition;
    return { at: formatKnownTime(at), ...others };
  });

/** Prints a line for each field of a payment's entry but the input, and a line about the client. */
export function formatEntry(
  reference: string,
  entry: JournalEntry,
  now: number,
  client: string,
): string {
  const { input: _, history: _history, ...rest } = entry;
  const fields = [
    ['reference', reference],
    ...Object.entries(rest).map(([name, value]) => [name, formatField(name, value, now)]),
    // Only the first line of the history has a name before it.
    ...describeHistory(entry).map((transition, at) => [
      at === 0 ? 'history' : '',
      formatTransition(transition),
    ]),
    ['client', client],
  ].map((field) => field.map(clean));
  const width = Math.max(...fields.map(([name = '']) => name.length));
  return fields.map(([name = '', text]) => `${name.padEnd(width)}  ${text}\n`).join('');
}

/** The line about one change of an entry: the time, the new state, and who made the change. */
const formatTransition = ({ at, state, ...others }: PaymentTransition): string =>
  [at, state, ...Object.entries(others).map(([name, value]) => `${name} ${value}`)].join('  ');

function formatField(name: string, value: unknown, now: number): string {
  if (name === 'expiresAt' && value === null) return 'never';
  if (!timeNames.has(name)) return String(value);
  if (!isKnown(value)) return 'unknown';
  const distance = value > now ? formatExpiry(value - now) : `${formatAge(now - value)} ago`;
  return `${formatTime(value)} (${distance})`;
}

const formatExpiry = (ms: number): string => (ms > 0 ? `in ${formatAge(ms)}` : 'expired');

/** Describes a time span in words, such as `5 min`. */
function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}
