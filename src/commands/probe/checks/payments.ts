import { defaultGracePeriod } from '../../../calls/options.ts';
import { describeChange } from '../description.ts';
import {
  idempotencyHeader,
  isFinalStatus,
  type Creation,
  type KeyTrial,
  type Payment,
} from '../payment.ts';
import { pays, type Check } from './check.ts';
import {
  confirmed,
  contradicted,
  finding,
  formatMs,
  isFilled,
  unknown,
  type Verdict,
} from './verdict.ts';

export const paymentChecks: readonly Check[] = [
  pays(10, 'Does a transfer that names no currency have USDC?', ({ first, record, listed }) => {
    const row = record ?? listed;
    if (row === undefined) return notSeen(first, 'read');
    const { currency } = row;
    if (currency === 'USDC') return confirmed('It has USDC.');
    return contradicted(
      `It has ${isFilled(currency) ? currency : 'none'}.`,
      undefined,
      'name the currency of each payment: createOnce takes a payment without one for USDC.',
    );
  }),
  pays(28, 'Which status does a creation have?', ({ first, search }) => {
    const { details, ...verdict } =
      first.outcome === 'accepted'
        ? finding(`${first.status}.`, `It made ${first.id}.`)
        : notPaid(first);
    // The report always says how to find the transfer, because an operator may have to look for it.
    return { ...verdict, details: `${details} ${search}` };
  }),
  pays(36, 'Does the response to a creation have the documented fields?', ({ first, record }) => {
    if (first.outcome !== 'accepted') return notPaid(first);
    const missing = ['id', 'status', 'type', 'createdAt'].filter(
      (name) => !isFilled(first.body[name]),
    );
    const metadata = record === undefined || !('metadata' in record) ? 'no metadata' : 'metadata';
    const fields = Object.keys(first.body).join(', ');
    const details = `The creation has ${fields}. The transfer has ${metadata}.`;
    if (missing.length === 0) return confirmed('Yes.', details);
    return contradicted(`It lacks ${missing.join(', ')}.`, details);
  }),
  pays(37, 'Which statuses does a transfer go through?', ({ first, statuses, watchedMs }) => {
    const last = statuses.at(-1);
    if (last === undefined) return notSeen(first, 'read by its id');
    const details = `${statuses.join(', then ')}; watched for ${formatMs(watchedMs)}.`;
    return isFinalStatus(last)
      ? finding(`It ends as ${last}.`, details)
      : finding('None is final within a minute.', details);
  }),
  pays(40, 'Can a new transfer be read by its id within 30 seconds?', (payment) => {
    const { first, record, readableAfterMs, watchedMs } = payment;
    if (record === undefined || readableAfterMs === undefined) {
      if (first.outcome !== 'accepted') return notPaid(first);
      return contradicted('It cannot be read.', `Tried for ${formatMs(watchedMs)}.`);
    }
    const details = `After ${formatMs(readableAfterMs)}.`;
    return readableAfterMs < 30_000
      ? confirmed('Yes.', details)
      : contradicted('Only later.', details);
  }),
  pays(51, `Is ${idempotencyHeader} honoured?`, checkKey, 'pay_twice'),
  // Checks Assumption A1 of docs/proof.md, that the list shows a transfer with its reference.
  pays(60, 'Does a description come back unchanged?', ({ description, first, record, listed }) => {
    const row = listed ?? record;
    if (row === undefined) return notSeen(first, 'read');
    const change = describeChange(description, row['description']);
    const where = listed === undefined ? 'by its id; not seen in the list' : 'in the list';
    if (change === undefined) return confirmed('Yes.', `140 characters, ${where}.`);
    return contradicted(`It comes back ${change.summary}.`, `Seen ${where}.`, change.advice);
  }),
  // Checks Assumption A2 of docs/proof.md, that the list soon shows a new transfer.
  pays(61, 'How soon is a new transfer listed?', ({ first, listedAfterMs, watchedMs }) => {
    if (listedAfterMs === undefined) {
      return first.outcome === 'accepted'
        ? unknown('It was not seen in the list.', `Watched for ${formatMs(watchedMs)}.`)
        : notPaid(first);
    }
    const after = formatMs(listedAfterMs);
    const isSoon = listedAfterMs < 10_000;
    const fact = isSoon ? 'Within 10 seconds.' : 'After more than 10 seconds.';
    const listed = { ...finding(fact, `After ${after}.`), advice: lateEffectAdvice };
    // Suggests 20 times the delay that was seen, rounded up to minutes.
    const value = Math.ceil((listedAfterMs * 20) / 60_000) * 60_000;
    if (value <= defaultGracePeriod) return listed;
    const reason = `a new transfer was listed after ${after} only`;
    return { ...listed, option: { name: 'gracePeriod', value, reason } };
  }),
];

/** Advice for the report, because one transfer's delay does not show how slow a platform can be. */
const lateEffectAdvice =
  'This is only the delay of the list. Ask the platform for how long after a timeout a POST may still create a transfer, and set the option gracePeriod to a longer time.';

export const notPaid = ({ outcome, problem }: Creation): Verdict =>
  unknown(
    outcome === 'unknown'
      ? 'It is unknown whether the transfer was made.'
      : 'The transfer was not made.',
    `Its response: ${problem}.`,
  );

const notSeen = (first: Creation, how: string): Verdict =>
  first.outcome === 'accepted' ? unknown(`The transfer could not be ${how}.`) : notPaid(first);

/**
 * Decides by the requests of `--pay-twice` whether the platform honours the Idempotency-Key: an
 * equal request with the same key made no second transfer, but a request with another key did.
 */
function checkKey({ first, keyTrial }: Payment): Verdict {
  if (keyTrial === undefined) return notPaid(first);
  const { other, equal, control, listed } = keyTrial;
  const made = describeMade(first, keyTrial);
  const madeAnother = (creation?: Creation): boolean =>
    creation?.outcome === 'accepted' && creation.id !== first.id;
  if (madeAnother(other)) {
    return finding('Ignored: another amount with the same key made a second transfer.', made);
  }
  if (madeAnother(equal)) {
    return finding('Ignored: an equal request with the same key made a second transfer.', made);
  }
  if (equal?.isRefused === true) {
    return finding('Not honoured: an equal request with the same key was rejected.', made);
  }
  // A platform that finds duplicates without reading the Idempotency-Key responds in the same way,
  // but then makes no transfer for another key, either.
  if (control !== undefined && !madeAnother(control)) {
    return unknown('Unclear: a request with another key made no other transfer.', made);
  }
  const expectedIds = new Set([first.id, control?.id ?? first.id]);
  if (listed.rows.some(({ id }) => !expectedIds.has(String(id)))) {
    return finding('Not honoured: the list has a transfer that no response named.', made);
  }
  if (equal?.outcome !== 'accepted') {
    return unknown('Unclear: a request with the same key failed.', made);
  }
  if (control === undefined || !listed.isComplete || listed.rows.length !== expectedIds.size) {
    const fact = 'Unclear: the list could not be read to its end, or lacks a transfer.';
    return unknown(fact, `Pay from an account with fewer transfers. ${made}`);
  }
  const reason = 'only another key made another transfer, in the responses and in the list';
  const option = { name: 'idempotencyHeader', value: idempotencyHeader, reason };
  return { ...finding('Honoured.', made), option };
}

/** Names each transfer that the probe made, with its amount, and each request that failed. */
function describeMade(first: Creation, { listed, ...trial }: KeyTrial): string {
  const creations = [first, ...Object.values(trial)];
  const made = new Map(listed.rows.map(({ id, amount }) => [String(id), String(amount)]));
  for (const { id, amount, outcome } of creations) {
    if (outcome === 'accepted' && id !== undefined && !made.has(id)) made.set(id, amount);
  }
  const failed = creations
    .filter(({ outcome }) => outcome !== 'accepted')
    .map(({ amount, outcome, problem }) => `A request for ${amount} was ${outcome}: ${problem}.`);
  const transfers = [...made].map(([id, amount]) => `${id} of ${amount}`).join(', ');
  return [`Made: ${transfers}.`, ...failed].join(' ');
}
