import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import { statusMeaning, type Transfer } from '../../schemas/transfer.ts';
import { idPrefixes } from '../platform/ids.ts';
import type { SandboxState } from '../state.ts';
import {
  Badge,
  Choice,
  Action,
  Field,
  listChoices,
  RecordLink,
  RecordPanel,
  useSearch,
  usePost,
  useRowFocus,
  type Fields,
} from './parts.tsx';

const tones: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  processing: 'busy',
};

const isOpen = (transfer: Transfer) => statusMeaning(transfer) === 'open';

export const TransferStatus = ({ status }: Pick<Transfer, 'status'>) => (
  <Badge text={status} tone={tones[status] ?? 'wait'} />
);

/** The buttons that change an open Transfer. */
export function TransferActions({ transfer }: { transfer: Transfer }) {
  const { id } = transfer;
  const post = usePost();
  if (!isOpen(transfer)) return null;
  const move = (verb: 'advance' | 'fail' | 'cancel') =>
    post(`${id}: ${verb}.`, `transfers/${id}/${verb}`);
  return (
    <div class="actions">
      <Action label="Advance" of={id} onClick={() => move('advance')} />
      <Action label="Fail" of={id} onClick={() => move('fail')} />
      <Action label="Cancel" of={id} onClick={() => move('cancel')} />
    </div>
  );
}

const Row = memo(
  ({ transfer }: { transfer: Transfer }) => {
    const { id, status, amount, currency, description, createdAt } = transfer;
    const row = useRowFocus<HTMLLIElement>();
    return (
      <li class="transfer" ref={row} tabIndex={-1}>
        <div class="who">
          <RecordLink id={id} />
          <TransferStatus status={status} />
          <time dateTime={createdAt} title={createdAt}>
            {createdAt.slice(11, 19)}
          </time>
        </div>
        <data class="balance" value={amount}>
          {amount} <small>{currency}</small>
        </data>
        <div class="route">
          <span>
            <RecordLink id={transfer.sourceAccountId} /> <span aria-label="to">→</span>{' '}
            <RecordLink id={transfer.destinationAccountId ?? transfer.counterpartyId ?? ''} />
          </span>
          {description !== undefined && description !== null && (
            <span class="description">{description}</span>
          )}
        </div>
        <TransferActions transfer={transfer} />
      </li>
    );
  },
  // Each read of the state creates new objects, but only the status of a Transfer ever changes, so
  // a row is redrawn only for a new status.
  (one, other) =>
    one.transfer.id === other.transfer.id && one.transfer.status === other.transfer.status,
);

const toTransferInput = ({ destinationId = '', ...input }: Fields) => ({
  ...input,
  [destinationId.startsWith(idPrefixes.accounts) ? 'destinationAccountId' : 'counterpartyId']:
    destinationId,
});

type Props = Pick<SandboxState, 'transfers' | 'accounts' | 'counterparties'>;

/** The Transfers that pass the search, latest first, and a form that creates a Transfer. */
export const Transfers = memo(({ transfers, accounts, counterparties }: Props) => {
  const [pickedId, setPickedId] = useState<string>();
  const accountChoices = listChoices(accounts);
  // The picked Account may be gone after a reset. The form then shows the first Account.
  const sourceId = (accounts.find(({ id }) => id === pickedId) ?? accounts[0])?.id ?? '';
  const { field, isShown } = useSearch<Transfer>('a Transfer', 'id, amount, text', (transfer) =>
    Object.values(transfer).join(' ').toLowerCase(),
  );
  return (
    <RecordPanel
      id="transfers"
      noun="Transfer"
      rows={transfers}
      shown={transfers.filter(isShown)}
      tools={field}
      renderRow={(transfer) => <Row key={transfer.id} transfer={transfer} />}
      toInput={toTransferInput}
    >
      <Choice
        label="From"
        name="sourceAccountId"
        options={accountChoices}
        value={sourceId}
        onPick={setPickedId}
      />
      <Choice
        label="To"
        name="destinationId"
        options={[
          ...listChoices(counterparties),
          ...accountChoices.filter(([id]) => id !== sourceId),
        ]}
      />
      <Field label="Amount" name="amount" value="10.00" required decimal />
      <Field label="Description" name="description" placeholder="or sandbox:fail" />
    </RecordPanel>
  );
});
