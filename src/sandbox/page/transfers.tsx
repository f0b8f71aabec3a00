import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { Transfer } from '../../schemas/transfer.ts';
import type { SandboxState } from '../state.ts';
import { callControl } from './live.ts';
import { Badge, Choice, Action, Empty, maxRows, Panel, useActions, useRowFocus } from './parts.tsx';

const tones: Readonly<Record<string, string>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'quiet',
  processing: 'busy',
};

const isOpen = ({ status }: Transfer) => status === 'pending' || status === 'processing';

const filters: readonly (readonly [string, string, (transfer: Transfer) => boolean])[] = [
  ['all', 'All', () => true],
  ['open', 'Open', isOpen],
  ['completed', 'Completed', ({ status }) => status === 'completed'],
  ['ended', 'Failed or cancelled', ({ status }) => status === 'failed' || status === 'cancelled'],
];

const Row = memo(
  ({ transfer }: { transfer: Transfer }) => {
    const { id, status, amount, currency, description, createdAt } = transfer;
    const { run } = useActions();
    const row = useRowFocus<HTMLLIElement>();
    const createHandler = (verb: 'advance' | 'fail' | 'cancel') => () => {
      void run(`${id}: ${verb}.`, () => callControl('POST', `transfers/${id}/${verb}`));
    };
    return (
      <li class="transfer" ref={row} tabIndex={-1}>
        <div class="who">
          <code>{id}</code>
          <Badge text={status} tone={tones[status] ?? 'wait'} />
          <time dateTime={createdAt} title={createdAt}>
            {createdAt.slice(11, 19)}
          </time>
        </div>
        <data class="balance" value={amount}>
          {amount} <small>{currency}</small>
        </data>
        <div class="route">
          <span>
            <code>{transfer.sourceAccountId}</code> <span aria-label="to">→</span>{' '}
            <code>{transfer.destinationAccountId ?? transfer.counterpartyId}</code>
          </span>
          {description !== undefined && description !== null && (
            <span class="description">{description}</span>
          )}
        </div>
        {isOpen(transfer) && (
          <div class="actions">
            <Action label="Advance" of={id} onClick={createHandler('advance')} />
            <Action label="Fail" of={id} onClick={createHandler('fail')} />
            <Action label="Cancel" of={id} onClick={createHandler('cancel')} />
          </div>
        )}
      </li>
    );
  },
  // Each state is parsed anew, and only the status of a Transfer ever changes.
  (one, other) =>
    one.transfer.id === other.transfer.id && one.transfer.status === other.transfer.status,
);

export const Transfers = memo(({ transfers }: Pick<SandboxState, 'transfers'>) => {
  const [show, setShow] = useState('all');
  const [search, setSearch] = useState('');
  const matchesFilter = filters.find(([name]) => name === show)?.[2] ?? (() => true);
  const searchText = search.trim().toLowerCase();
  const shownTransfers = transfers
    .filter(
      (transfer) =>
        matchesFilter(transfer) &&
        (searchText === '' || Object.values(transfer).join(' ').toLowerCase().includes(searchText)),
    )
    .toReversed();
  return (
    <Panel
      id="transfers"
      title="Transfers"
      count={transfers.length}
      tools={
        <>
          <Choice
            label="Show"
            options={filters.map(([name, text]) => [name, text])}
            value={show}
            onPick={setShow}
          />
          <label>
            <span>Find</span>
            <input
              type="search"
              value={search}
              placeholder="id, amount, text"
              onInput={({ currentTarget }) => {
                setSearch(currentTarget.value);
              }}
            />
          </label>
        </>
      }
    >
      {shownTransfers.length === 0 && (
        <Empty>
          {transfers.length === 0
            ? 'No Transfer yet: the API creates them.'
            : 'No Transfer matches.'}
        </Empty>
      )}
      <ul class="rows scroll">
        {shownTransfers.slice(0, maxRows).map((transfer) => (
          <Row key={transfer.id} transfer={transfer} />
        ))}
      </ul>
      {shownTransfers.length > maxRows && (
        <Empty>
          The latest {maxRows} of {shownTransfers.length} are shown; Find searches all.
        </Empty>
      )}
    </Panel>
  );
});
