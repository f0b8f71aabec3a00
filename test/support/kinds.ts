import type { PaymentsClient, RequestOptions } from 'payments-platform-sdk';
import { built, newInstruction, newTransfer, transfer, transferCreated } from './values.ts';

/** One call of each kind in the retry policy. */
export const kinds = ['safe GET', 'safe POST', 'PATCH', 'DELETE', 'once POST'] as const;
export type KindName = (typeof kinds)[number];

export const calls: Readonly<
  Record<
    KindName,
    {
      readonly good: unknown;
      readonly status: number;
      send(payments: PaymentsClient, options?: RequestOptions): Promise<unknown>;
    }
  >
> = {
  'safe GET': {
    good: transfer,
    status: 200,
    send: (payments, options) => payments.transfers.get('txfr_1', options),
  },
  'safe POST': {
    good: built,
    status: 200,
    send: (payments, options) => payments.instructions.build(newInstruction, options),
  },
  PATCH: {
    good: { id: 'acc_1', name: 'Main' },
    status: 200,
    send: (payments, options) => payments.accounts.update('acc_1', { name: 'Main' }, options),
  },
  DELETE: {
    good: undefined,
    status: 204,
    send: (payments, options) => payments.counterparties.delete('cpty_1', options),
  },
  'once POST': {
    good: transferCreated,
    status: 201,
    send: (payments, options) => payments.transfers.create(newTransfer, options),
  },
};
