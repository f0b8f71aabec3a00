/* The transfer that every contender reads and writes: the same bytes for all of them. */

export const perPage = 100;

const transfer = (id) => ({
  id,
  status: 'completed',
  type: 'on_chain',
  createdAt: '2026-03-14T09:26:53.589Z',
  sourceAccountId: 'acc_7Q2mVb9TzK4xWc8RyN3pLd',
  counterpartyId: 'cpty_5HsJk2LmNp8QrTvWxYz3Bc',
  destinationAccountId: null,
  amount: '1250.000000',
  currency: 'USDC',
  direction: 'outgoing',
  description: 'Invoice 2026-0314, second half, thank you',
});

/** Ids have one width, so that a page can be made from another by overwriting an id in place. */
export const idOf = (n) => `txfr_${String(n).padStart(20, '0')}`;

export const one = JSON.stringify(transfer(idOf(7)));

/**
 * The ids of most items start here, because the last item of page n has the id n, and the SDK takes
 * an id that comes twice for a list that has moved.
 */
const firstOfItems = 10 ** 9;

export const items = JSON.stringify(
  Array.from({ length: perPage }, (_, n) => transfer(idOf(firstOfItems + n))),
);

/** The input of a POST, the same for all contenders. */
export const input = {
  sourceAccountId: 'acc_7Q2mVb9TzK4xWc8RyN3pLd',
  counterpartyId: 'cpty_5HsJk2LmNp8QrTvWxYz3Bc',
  amount: '1250.000000',
  currency: 'USDC',
  description: 'Invoice 2026-0314, second half, thank you',
};
