import { idempotencyHeader, type Creation, type KeyTrial, type Payment } from '../payment.ts';
import { pays, type Check } from './check.ts';
import { confirmed, contradicted, finding, formatMs, unknown, type Verdict } from './verdict.ts';

export const paymentChecks: readonly Check[] = [
  pays(28, 'Which status does a creation have?', ({ first, search }) => {
    const { seen, ...verdict } =
      first.outcome === 'accepted'
        ? finding(`${first.status}.`, `It made ${first.id}.`)
        : notPaid(first);
    // The report always says how to find the transfer, because an operator may have to look for it.
    return { ...verdict, seen: `${seen} ${search}` };
  }),
  pays(51, `Is ${idempotencyHeader} honoured?`, checkKey, 'pay_twice'),
  // Checks Assumption A1 of docs/proof.md, that the list shows a transfer with its reference.
  pays(60, 'Does a description come back unchanged?', ({ description, first, watch }) => {
    const { listed, record } = watch;
    const row = listed ?? record;
    if (row === undefined) return notSeen(first, 'The transfer could not be read.');
    const received = row['description'];
    const where = listed === undefined ? 'by its id; not seen in the list' : 'in the list';
    if (received === description) return confirmed('Yes.', `140 characters, ${where}.`);
    const shown = typeof received === 'string' ? `"${received.slice(0, 300)}"` : 'nothing';
    const details = `Sent "${description}", seen ${where} as ${shown}.`;
    return contradicted('It comes back changed.', details, changedAdvice);
  }),
  // Checks Assumption A2 of docs/proof.md, that the list soon shows a new transfer.
  pays(61, 'How soon is a new transfer listed?', ({ first, watch }) => {
    const { listedAfterMs, elapsed } = watch;
    if (listedAfterMs === undefined) {
      return notSeen(first, 'It was not seen in the list.', `Watched for ${formatMs(elapsed)}.`);
    }
    const isSoon = listedAfterMs < 10_000;
    const fact = isSoon ? 'Within 10 seconds.' : 'After more than 10 seconds.';
    return finding(fact, `After ${formatMs(listedAfterMs)}.`, lateEffectAdvice);
  }),
];

const changedAdvice =
  'createOnce cannot find such a payment, or reports it as ambiguous. Use references that the platform leaves as they are.';

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

const notSeen = (first: Creation, fact: string, details?: string): Verdict =>
  first.outcome === 'accepted' ? unknown(fact, details) : notPaid(first);

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
  const name = 'idempotencyHeader';
  return { ...finding('Honoured.', made), option: { name, value: idempotencyHeader, reason } };
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
