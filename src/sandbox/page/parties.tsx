import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { Counterparty } from '../../schemas/counterparty.ts';
import type { Entity } from '../../schemas/entity.ts';
import type { SandboxState } from '../state.ts';
import {
  Badge,
  Choice,
  Action,
  Field,
  getLatest,
  RecordPanel,
  usePost,
  useRowFocus,
  Who,
} from './parts.tsx';

const tones: Readonly<Record<string, string>> = { approved: 'good', rejected: 'bad' };
const getTone = (status: string) => tones[status] ?? 'wait';
const formatStatus = (status: string) => status.replaceAll('_', ' ');

function EntityRow({ entity: { id, email, kycStatus, tosStatus } }: { entity: Entity }) {
  const post = usePost();
  const row = useRowFocus<HTMLLIElement>();
  return (
    <li class="party" ref={row} tabIndex={-1}>
      <Who name={email} id={id} />
      <div class="badges">
        <Badge text={`KYC ${formatStatus(kycStatus)}`} tone={getTone(kycStatus)} />
        <Badge text={`terms ${formatStatus(tosStatus)}`} tone={getTone(tosStatus)} />
      </div>
      {(kycStatus !== 'approved' || tosStatus !== 'approved') && (
        <Action
          label="Approve"
          of={id}
          onClick={() => post(`${id} is approved.`, `entities/${id}/approve`)}
        />
      )}
    </li>
  );
}

export const EntityChoice = ({ entities }: Pick<SandboxState, 'entities'>) => (
  <Choice
    label="Entity"
    name="entityId"
    options={getLatest(entities).map(({ id, email }) => [id, `${id} ${email}`])}
  />
);

export const Entities = memo(({ entities }: Pick<SandboxState, 'entities'>) => (
  <RecordPanel
    id="entities"
    noun="Entity"
    rows={entities}
    renderRow={(entity) => <EntityRow key={entity.id} entity={entity} />}
  >
    <Field label="Email" name="email" required />
    <Field label="Full name" name="fullName" />
    <Field label="Business name" name="businessName" />
  </RecordPanel>
));

const CounterpartyRow = ({ counterparty }: { counterparty: Counterparty }) => (
  <li class="party">
    <Who name={counterparty.name} id={counterparty.id} />
    <small>
      {formatStatus(counterparty.type)} · {counterparty.chain ?? counterparty.bankName} ·{' '}
      <code>{counterparty.walletAddress ?? counterparty.accountNumber}</code>
    </small>
  </li>
);

export const Counterparties = memo(
  ({ counterparties, entities }: Pick<SandboxState, 'counterparties' | 'entities'>) => {
    const [type, setType] = useState('wallet');
    return (
      <RecordPanel
        id="counterparties"
        noun="Counterparty"
        rows={counterparties}
        renderRow={(row) => <CounterpartyRow key={row.id} counterparty={row} />}
      >
        <EntityChoice entities={entities} />
        <Choice
          label="Type"
          name="type"
          options={[
            ['wallet', 'wallet'],
            ['bank_account', 'bank account'],
          ]}
          value={type}
          onPick={setType}
        />
        <Field label="Name" name="name" required />
        {type === 'wallet' ? (
          <Field key="address" label="Address" name="walletAddress" placeholder="made up" />
        ) : (
          <Field key="number" label="Account number" name="accountNumber" placeholder="made up" />
        )}
      </RecordPanel>
    );
  },
);
