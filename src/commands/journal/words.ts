import { defaultClockSkew, defaultGracePeriod, defaultTotalTimeout } from '../../calls/options.ts';
import type { AmbiguousEntry, JournalEntry, OpenEntry, PaidEntry } from '../../journals/journal.ts';
import { correctClaim, findTimeLeft } from '../../once/entries.ts';
import { statusMeaning } from '../../schemas/transfer.ts';
import { isCertainlyOther } from '../../search/compare.ts';
import { clean } from '../table.ts';
import type { StoreAddress } from './flags.ts';
import type { Candidate } from './terms.ts';

/*
 * How the command speaks to an operator: dates and minutes, what is known, and the one command
 * that comes next.
 */

const minuteMs = 60_000;

/** Whether a time is known: no payment was made before 2001, and 0.4.0 wrote 0 for an unknown time. */
export const isKnownTime = (time: unknown): time is number => Number(time) >= 1e12;

/** Formats a time to the minute. A time in the future is rounded up, so nobody comes too early. */
export function formatMinute(time: unknown, now: number): string {
  if (!isKnownTime(time) || time > 8.64e15) return 'unknown';
  const round = time > now ? Math.ceil : Math.floor;
  const text = new Date(round(time / minuteMs) * minuteMs).toISOString();
  return `${text.slice(0, 16).replace('T', ' ')} UTC`;
}

/** Formats a time and its distance, such as `2026-01-31 12:00 UTC (5 min ago)`. */
export function formatWhen(time: unknown, now: number): string {
  if (!isKnownTime(time)) return 'unknown';
  const distance = time > now ? `in ${formatLeft(time - now)}` : `${formatAge(now - time)} ago`;
  return `${formatMinute(time, now)} (${distance})`;
}

/** Describes a time span in words, such as `5 min`. */
export function formatAge(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3_600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

/** Describes how long to wait, rounded up to a minute. */
const formatLeft = (ms: number): string =>
  formatAge(Math.max(1, Math.ceil(ms / minuteMs)) * minuteMs);

/** How long the request of an open payment may still run and take effect, for a default client. */
export function timeLeftOf(entry: OpenEntry, now: number) {
  const times = { totalTimeout: defaultTotalTimeout, gracePeriod: defaultGracePeriod };
  // `createOnce` corrects a claim of a clock that was ahead in the same way.
  const isAhead = entry.claimedAt - now > defaultClockSkew;
  return findTimeLeft(isAhead ? correctClaim(entry, now) : entry, now, times);
}

/** Returns the state of an entry. A `sending` payment is either in progress or in doubt. */
export function stageOf(entry: JournalEntry, now: number) {
  if (entry.state !== 'sending') return entry.state;
  return timeLeftOf(entry, now).toRun > 0 ? 'in_progress' : 'in_doubt';
}

/** Formats a command for an operator to copy. */
export function formatCommand(
  name: string,
  args: readonly string[],
  { name: flag, address, table, prefix, filter }: StoreAddress,
  options: readonly string[] = [],
): string {
  const flags = [...options, `--${flag}`, printAddress(flag, address)];
  if (table !== undefined) flags.push('--table', quote(table));
  if (prefix !== undefined) flags.push('--prefix', quote(prefix));
  if (filter !== undefined && name !== 'show') flags.push('--transfers-filter', quote(filter));
  const names = args.map(quote);
  // Without `--` before it, a reference that starts with a dash would be read as an option.
  const all = args[0]?.startsWith('-') === true ? [...flags, '--', ...names] : [...names, ...flags];
  return `npx payments-journal ${[name, ...all].join(' ')}`;
}

/** Returns the variable that holds a store's URL, or a placeholder, because the URL may have a password. */
function printAddress(flag: string, address: string): string {
  if (flag === 'sqlite' || !/[@?]/.test(address)) return quote(address);
  const variables = Object.keys(process.env).filter((each) => process.env[each] === address);
  const variable = variables.find((each) => /^\w+$/.test(each));
  return variable === undefined ? '"<url>"' : `"$${variable}"`;
}

const quote = (text: string): string =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${clean(text).replaceAll("'", String.raw`'\''`)}'`;

interface NextContext {
  readonly now: number;
  readonly store: StoreAddress;
  /** The transfers of the payment, as far as they could be read. */
  readonly transfers: readonly Candidate[];
  /** The platform of the operator's client, if there is one. */
  readonly baseUrl: string | undefined;
}

/** Says what to do next about a payment, with the commands for its state. */
export function nextOfPayment(
  entry: JournalEntry,
  { now, store, transfers, baseUrl }: NextContext,
): string {
  const { description: reference } = entry.input;
  if (baseUrl !== undefined && baseUrl !== entry.platform && entry.state !== 'not_paid') {
    return `It belongs to another platform than your client, which proves nothing about it. Next:\n  export PAYMENTS_BASE_URL=${quote(entry.platform)}\n`;
  }
  if (entry.state === 'paid') return nextOfPaid(entry, transfers[0], store);
  if (entry.state === 'not_paid') return 'Nothing is left to do here: its next job pays it.\n';
  if (entry.state === 'ambiguous') {
    const isUnread = transfers.length > 0 && transfers.every(({ transfer }) => !transfer);
    return isUnread
      ? 'None of the transfers can be read. Before you decide, check that PAYMENTS_API_KEY is the key of the payment.\n'
      : describeDecisions(reference, entry, store);
  }
  const lines = [
    describeWait(entry, now),
    "Next, search the platform's list. This sends nothing:",
    `  ${formatCommand('finish', [reference], store)}`,
  ];
  const { toRun, toTakeEffect } = timeLeftOf(entry, now);
  const isOver = toTakeEffect <= 0;
  if (isOver || (toRun <= 0 && !Number.isFinite(toTakeEffect))) {
    lines.push(
      isOver
        ? 'If the list does not show it, its next job pays it. If no job will come, close it:'
        : 'If you are certain that it was never made, let its next job pay it:',
      `  ${formatCommand('decide', [reference, 'not_paid'], store)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Whether the platform has given the id of a recorded transfer to another payment. */
export const isOtherPayment = ({ transfer }: Candidate, { input }: PaidEntry): boolean =>
  transfer !== undefined && input.amount !== undefined && isCertainlyOther(transfer, input);

function nextOfPaid(
  entry: PaidEntry,
  recorded: Candidate | undefined,
  store: StoreAddress,
): string {
  if (recorded === undefined) return 'Nothing is left to do here.\n';
  const isOther = isOtherPayment(recorded, entry);
  if (isOther || recorded.isMissing === true) {
    const args = [entry.input.description, 'not_paid'];
    return [
      `The platform ${isOther ? 'has given its id to another payment' : 'has no such transfer'}. Either your key is that of another tenant,`,
      'or the platform was restored from a backup. If it was restored, let the next job of the payment',
      'pay it again. This searches first, and refuses if a transfer has this very reference:',
      `  ${formatCommand('decide', args, store, ['--force'])}`,
      '',
    ].join('\n');
  }
  const meaning = recorded.transfer && statusMeaning(recorded.transfer);
  if (meaning === 'failed') return 'The transfer failed: pay under a new reference.\n';
  if (meaning === 'arrived') return 'The money has arrived. Nothing is left to do.\n';
  return 'Nothing is left to do here.\n';
}

/** Says whether the request of an open payment may still pay. */
export function describeWait(entry: OpenEntry, now: number): string {
  const { toRun, toTakeEffect } = timeLeftOf(entry, now);
  if (toRun > 0) {
    return `A call on ${clean(entry.host)} is making it, until ${formatWhen(now + toRun, now)} at the latest.`;
  }
  if (toTakeEffect === Number.POSITIVE_INFINITY) {
    return 'Its request may take effect at any time (gracePeriod has no end), so no job sends it again by itself.';
  }
  return toTakeEffect > 0
    ? `Its request has ended, but may still take effect until ${formatWhen(now + toTakeEffect, now)}.`
    : 'Its request can no longer take effect.';
}

/** The commands with which an operator can decide an ambiguous payment. */
export function describeDecisions(
  reference: string,
  { candidates, sharedWith }: Pick<AmbiguousEntry, 'candidates' | 'sharedWith'>,
  store: StoreAddress,
): string {
  const show = (other: string) => [
    'One transfer cannot be two payments. Look at the other, which is recorded with it:',
    `  ${formatCommand('show', [other], store)}`,
  ];
  const record = candidates.map((id) => `  ${formatCommand('decide', [reference, id], store)}`);
  return [
    ...(sharedWith === undefined
      ? ['If a transfer is the payment, record its id:', ...record]
      : show(sharedWith)),
    'If none is, dismiss them, and the next job of the payment pays it:',
    `  ${formatCommand('decide', [reference, 'not_paid'], store, ['--force'])}`,
    '',
  ].join('\n');
}
