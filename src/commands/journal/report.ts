import { journalKey } from '../../internal/formats.ts';
import { formatTime } from '../../internal/text.ts';
import { addRow, createTotals } from '../../books/rows.ts';
import type { JournalEntry, OpenEntry } from '../../journals/journal.ts';
import { readFirstClaim, readHistory } from '../../once/entries.ts';
import type { UndecidedPayment } from '../../once/list-undecided.ts';
import type { OnceInput } from '../../schemas/transfer.ts';
import { defaultCurrency } from '../../search/compare.ts';
import { clean, formatColumns } from '../table.ts';
import type { StoreAddress } from './flags.ts';
import {
  formatAge,
  formatCommand,
  formatMinute,
  formatWhen,
  isKnownTime,
  stageOf,
} from './words.ts';

/** The open payments of a journal, and the entries that cannot be read. */
export interface OpenPayments {
  readonly listed: readonly UndecidedPayment[];
  /** The journal's entries, by the keys of their references. */
  readonly entries: ReadonlyMap<string, OpenEntry>;
  /** The time by the journal's clock. */
  readonly now: number;
}

/** The row of an open payment: its terms, and since when it has been open. */
export interface OpenRow {
  readonly reference: string;
  readonly entry: OpenEntry | undefined;
}

export const rowsOf = ({ listed, entries }: OpenPayments): OpenRow[] =>
  listed.map(({ reference, state }) => ({
    reference,
    entry: state === 'unreadable' ? undefined : entries.get(journalKey(reference)),
  }));

/** Formats the sums of amounts by currency, such as `12.50 USDC`. */
export const formatSums = (inputs: readonly OnceInput[]): string =>
  formatAmounts(sumByCurrency(inputs));

const formatAmounts = (amounts: Readonly<Record<string, string>>): string =>
  Object.entries(amounts)
    .map(([currency, sum]) => `${sum} ${currency}`)
    .join(', ');

function sumByCurrency(inputs: readonly OnceInput[]): Readonly<Record<string, string>> {
  const totals = createTotals();
  for (const { amount, currency = defaultCurrency } of inputs) {
    addRow(totals, 'pending', { amount, currency });
  }
  return totals.pending.amounts;
}

/** The age of the open payment whose first claim is the oldest; undefined if none is open. */
function findOldestAge(rows: readonly OpenRow[], now: number): number | undefined {
  let oldest = Number.POSITIVE_INFINITY;
  for (const { entry } of rows) if (entry) oldest = Math.min(oldest, readFirstClaim(entry));
  return Number.isFinite(oldest) ? Math.max(0, now - oldest) : undefined;
}

/** The table of open payments that `list` prints, and the command that comes next. */
export function formatTable(open: OpenPayments, store: StoreAddress): string {
  const { now } = open;
  const rows = rowsOf(open);
  const cells = rows.map(({ reference, entry }) => {
    if (entry === undefined) return [reference, 'unreadable', '', '', '', '', ''].map(clean);
    const { input, host } = entry;
    return [
      reference,
      stageOf(entry, now),
      formatAge(now - readFirstClaim(entry)),
      host,
      formatMoney(input),
      input.sourceAccountId,
      input.destinationAccountId ?? input.counterpartyId,
    ].map(clean);
  });
  const header = ['REFERENCE', 'STATE', 'AGE', 'HOST', 'AMOUNT', 'FROM', 'TO'];
  const count = rows.length === 1 ? '1 payment is open' : `${rows.length} payments are open`;
  const inputs = rows.flatMap(({ entry }) => (entry === undefined ? [] : [entry.input]));
  const oldest = findOldestAge(rows, now);
  const summary = [
    count,
    ...(inputs.length > 0 ? [`${formatSums(inputs)} in all`] : []),
    ...(oldest === undefined ? [] : [`the oldest for ${formatAge(oldest)}`]),
  ].join(', ');
  return `${formatColumns([header, ...cells]).join('\n')}\n\n${summary}.\n${nextOfList(rows, store)}`;
}

/** Names the command that the operator runs next. */
function nextOfList(rows: readonly OpenRow[], store: StoreAddress): string {
  if (rows.some(({ entry }) => entry?.state === 'sending')) {
    return `Next, search the platform's list. This sends nothing:\n  ${formatCommand('finish', [], store)}\n`;
  }
  const [first] = rows;
  return `Next, look at each:\n  ${formatCommand('show', [first?.reference ?? ''], store)}\n`;
}

const formatMoney = ({ amount, currency = defaultCurrency }: OnceInput): string =>
  `${amount} ${currency}`;

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

const formatKnownTime = (time: unknown): string =>
  isKnownTime(time) ? formatTime(time) : 'unknown';

/** An entry of the journal, as `list --json` prints entries, with all times in ISO 8601. */
export const describeEntry = (reference: string, entry: JournalEntry): object => ({
  reference,
  ...Object.fromEntries(
    Object.entries(entry).map(([name, value]) => [
      name,
      timeNames.has(name) && value !== null ? formatKnownTime(value) : value,
    ]),
  ),
  history: readHistory(entry).map(({ at, ...others }) => ({ at: formatKnownTime(at), ...others })),
});

const formatPayment = (input: JournalEntry['input']): string =>
  input.amount === undefined
    ? 'its terms were dropped by prune'
    : `${formatMoney(input)} from ${input.sourceAccountId} to ${input.destinationAccountId ?? input.counterpartyId}`;

const headlines = {
  in_progress: 'is being paid at this moment',
  in_doubt: 'is in doubt: nobody knows yet whether it was paid',
  ambiguous: 'is ambiguous: a listed transfer may be it, and you decide',
  not_paid: 'is recorded as not paid',
} as const;

/** Says what is known about a payment: its state, its terms, and what happened to it. */
export function formatEntry(
  reference: string,
  entry: JournalEntry,
  now: number,
  client: string,
): string {
  const { input, platform, dismissed } = entry;
  const stage = stageOf(entry, now);
  const headline =
    entry.state === 'paid'
      ? `is recorded as paid by ${entry.transferId}`
      : headlines[stage as keyof typeof headlines];
  const times: [string, string][] = [];
  if (entry.state === 'paid') times.push(['recorded', formatWhen(entry.paidAt, now)]);
  else if (entry.state === 'not_paid') times.push(['decided', formatWhen(entry.resolvedAt, now)]);
  else {
    const first = readFirstClaim(entry);
    times.push(['first tried', formatWhen(first, now)]);
    if (entry.claimedAt !== first) times.push(['last tried', formatWhen(entry.claimedAt, now)]);
    times.push(['host', entry.host]);
    if (entry.state === 'ambiguous' && entry.sharedWith !== undefined) {
      times.push(['shared with', `${entry.sharedWith}, which is recorded with the same transfer`]);
    }
  }
  const fields = [
    ['payment', formatPayment(input)],
    ...times,
    ['platform', platform],
    ...(dismissed === undefined ? [] : [['dismissed', dismissed.slice(0, 10).join(' ')]]),
    ['your client', client],
    // Only the first line of the history has a name before it.
    ...readHistory(entry).map(({ at, state, host, by, transferId }, index) => [
      index === 0 ? 'history' : '',
      [
        formatMinute(at, now),
        state,
        ...(transferId === undefined ? [] : [transferId]),
        ...(by === undefined ? [] : [`by ${by}`]),
        ...(host === undefined || host === '' ? [] : [`on ${host}`]),
      ].join('  '),
    ]),
  ].map((field) => field.map(clean));
  const width = Math.max(...fields.map(([name = '']) => name.length));
  const lines = fields.map(([name = '', text]) => `  ${name.padEnd(width)}  ${text}`.trimEnd());
  return [`${clean(reference)} ${clean(headline)}.`, '', ...lines, '', ''].join('\n');
}

/** What `stats` prints: open payments by state, their age and their sums. */
export interface Stats {
  readonly open: Readonly<Record<'sending' | 'ambiguous' | 'unreadable', number>>;
  readonly oldestOpenSeconds: number;
  readonly amounts: Readonly<Record<string, string>>;
}

export function countOpen(open: OpenPayments): Stats {
  const rows = rowsOf(open);
  const counts = { sending: 0, ambiguous: 0, unreadable: 0 };
  for (const { entry } of rows) counts[entry?.state ?? 'unreadable'] += 1;
  return {
    open: counts,
    oldestOpenSeconds: Math.floor((findOldestAge(rows, open.now) ?? 0) / 1_000),
    amounts: sumByCurrency(rows.flatMap(({ entry }) => (entry === undefined ? [] : [entry.input]))),
  };
}

export function formatStats({ open, oldestOpenSeconds, amounts }: Stats): string {
  const rows = [
    ...Object.entries(open).map(([state, count]) => [state, String(count)]),
    ['oldest', oldestOpenSeconds > 0 ? formatAge(oldestOpenSeconds * 1_000) : '-'],
    ['amounts', formatAmounts(amounts) || '-'],
  ];
  return `${formatColumns(rows).join('\n')}\n`;
}

/** Escapes a currency, because another program may have written it with any character. */
const escapeLabel = (text: string): string =>
  text.replaceAll(/[\\"\n]/g, (sign) => (sign === '\n' ? String.raw`\n` : `\\${sign}`));

/** The numbers as lines that Prometheus reads, for example by the textfile collector. */
export function formatMetrics({ open, oldestOpenSeconds, amounts }: Stats): string {
  const metrics = [
    [
      'payments_journal_open',
      'Open payments by state.',
      ...Object.entries(open).map(([state, count]) => `{state="${state}"} ${count}`),
    ],
    [
      'payments_journal_oldest_open_seconds',
      'Age of the oldest open payment since its first claim; 0 if none is open.',
      ` ${oldestOpenSeconds}`,
    ],
    [
      'payments_journal_open_amount',
      'Amount of the open payments by currency.',
      ...Object.entries(amounts).map(
        ([currency, sum]) => `{currency="${escapeLabel(currency)}"} ${sum}`,
      ),
    ],
  ];
  return metrics
    .flatMap(([name = '', help = '', ...samples]) => [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} gauge`,
      ...samples.map((sample) => `${name}${sample}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}
