import type { Bounds } from './explorer.ts';

/** A rule of the payment code, and a planted mistake of mutants.diff that breaks the rule. */
export interface Mistake {
  readonly rule: string;
  /** The name of the mistake in mutants.diff. */
  readonly mistake: string;
  /** Bounds in which the exploration finds the mistake. Without bounds, a test has to find it. */
  readonly bounds?: Bounds;
}

const one = { callers: 1, calls: 2, faults: 0 };
const two = { callers: 2, calls: 1, faults: 0 };

/** One planted mistake for each rule. */
export const mistakes: readonly Mistake[] = [
  {
    rule: 'A claim is written by compare-and-swap.',
    mistake: 'a caller that does not get the claim pays all the same',
    bounds: two,
  },
  {
    rule: 'The journal has the claim before the first byte of the payment leaves.',
    mistake: 'a payment is sent before its claim is written',
    bounds: two,
  },
  {
    rule: 'A claim lasts for the time of the call and the grace period.',
    mistake: 'a claim expires without the time that the request may take',
    bounds: { ...two, faults: 1 },
  },
  {
    rule: 'A claim is taken over only when its request can no longer take effect.',
    mistake: 'a claim is taken over before its end',
    bounds: { ...two, faults: 1 },
  },
  {
    rule: 'The larger grace period counts, of the claim and of the call.',
    mistake: 'the larger grace period of a caller does not count',
    bounds: { ...two, gracePeriods: [300_000, 900_000] },
  },
  {
    rule: 'Two scans in a row have to miss a payment before it is sent again.',
    mistake: 'a takeover sends after one scan',
    bounds: { ...one, faults: 1 },
  },
  {
    rule: 'A listed transfer that may be the payment stops the payment.',
    mistake: 'an ambiguous scan counts as not_found',
    bounds: { ...one, isMasked: true, hasOperator: true },
  },
  {
    rule: 'Only a rejection, or a request that was not sent, removes the claim.',
    mistake: 'an unknown outcome removes the claim',
    bounds: one,
  },
  {
    rule: 'A rejection after a takeover proves nothing about the first request.',
    mistake: 'a rejected takeover is reported as a rejected payment',
  },
  {
    rule: 'A rejection after a takeover restores the earlier claim.',
    mistake: 'a rejected takeover removes the claim',
  },
  {
    rule: 'A call that was suspended looks for a payment that was made meanwhile.',
    mistake: 'a call that was suspended does not look for a later payment',
    bounds: { ...two, faults: 1 },
  },
  {
    rule: 'A search comes before the first claim in a store that searches first.',
    mistake: 'no search comes before a first claim in a store that searches first',
    bounds: { ...one, faults: 0, searchesFirst: true, isRestored: true },
  },
  {
    rule: 'A takeover stops early only by the clock of the platform.',
    mistake: 'a takeover believes the clock of this machine at the claim',
  },
  {
    rule: 'A takeover reads back as far as the first claim.',
    mistake: 'a takeover reads back only to the end of the claim',
    bounds: { ...one, isBusy: true },
  },
  {
    rule: 'An operator cannot decide not_paid while a claim runs.',
    mistake: 'not_paid is accepted while the claim runs',
    bounds: { ...one, hasOperator: true },
  },
  {
    rule: 'An operator cannot decide not_paid when the list shows the payment.',
    mistake: 'not_paid is accepted although the list shows the payment',
    bounds: { ...one, hasOperator: true },
  },
  {
    rule: 'A claim that a fast clock has written expires like any other claim.',
    mistake: 'a claim that a fast clock has written blocks the payment',
    bounds: { ...one, isAhead: true },
  },
  {
    rule: 'A page from a cache proves nothing.',
    mistake: 'a search reports not_found after a page that it cannot trust',
  },
  {
    rule: 'A list that changes while it is read is read again.',
    mistake: 'a list that changed during the scan is read once',
  },
  {
    rule: 'Two scans that contradict each other prove nothing.',
    mistake: 'two scans need not agree',
  },
  {
    rule: 'A takeover compares the terms, whatever the description says.',
    mistake: 'a takeover believes the listed descriptions',
  },
  {
    rule: 'A certain failure is told only if the journal shows that the claim is withdrawn.',
    mistake: 'a certain failure is told although the entry cannot be read',
  },
  {
    rule: 'One transfer is never the payment of two references.',
    mistake: 'a payment that shares its transfer is taken over',
  },
  {
    rule: 'The scans before a payment is sent again come after the end of its claim.',
    mistake: 'a payment is sent again after scans from before the end of its claim',
    bounds: { ...one, faults: 1 },
  },
];
