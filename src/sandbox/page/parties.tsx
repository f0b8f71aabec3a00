import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { Entity } from '../../schemas/entity.ts';
import type { SandboxState } from '../state.ts';
import { callControl } from './live.ts';
import {
  AmountForm,
  Badge,
  Choice,
  Action,
  Empty,
  Create,
  Field,
  getLatest,
  maxRows,
  Panel,
  RecordLink,
  useActions,
  useRowFocus,
} from './parts.tsx';

const tones: Readonly<Record<string, string>> = { approved: 'good', rejected: 'bad' };
const getTone = (status: string) => tones[status] ?? 'wait';
const formatStatus = (status: string) => status.replaceAll('_', ' ');

function EntityRow({ entity: { id, email, kycStatus, tosStatus } }: { entity: Entity }) {
  const { run } = useActions();
  const row = useRowFocus<HTMLLIElement>();
  return (
    <li class="party" ref={row} tabIndex={-1}>
      <div class="who">
        <h3>{email}</h3>
        <RecordLink id={id} />
      </div>
      <div class="badges">
        <Badge text={`KYC ${formatStatus(kycStatus)}`} tone={getTone(kycStatus)} />
        <Badge text={`terms ${formatStatus(tosStatus)}`} tone={getTone(tosStatus)} />
      </div>
      {(kycStatus !== 'approved' || tosStatus !== 'approved') && (
        <Action
          label="Approve"
          of={id}
          onClick={() => {
            void run(`${id} is approved.`, () => callControl('POST', `entities/${id}/approve`));
          }}
        />
      )}
    </li>
  );
}

const MoreRows = ({ of: { length } }: { of: readonly unknown[] }) =>
  length > maxRows ? (
    <Empty>
      The latest {maxRows} of {length} are shown.
    </Empty>
  ) : null;

export const EntityChoice = ({ entities }: Pick<SandboxState, 'entities'>) => (
  <Choice
    label="Entity"
    name="entityId"
    options={getLatest(entities).map(({ id, email }) => [id, `${id} ${email}`])}
  />
);

export const Entities = memo(({ entities }: Pick<SandboxState, 'entities'>) => (
  <Panel id="entities" title="Entities" count={entities.length}>
    {entities.length === 0 && <Empty>No Entity yet.</Empty>}
    <ul class="rows scroll">
      {getLatest(entities).map((entity) => (
        <EntityRow key={entity.id} entity={entity} />
      ))}
    </ul>
    <MoreRows of={entities} />
    <Create noun="Entity" endpoint="entities">
      <Field label="Email" name="email" required />
      <Field label="Full name" name="fullName" />
      <Field label="Business name" name="businessName" />
    </Create>
  </Panel>
));

export const Counterparties = memo(
  ({ counterparties, entities }: Pick<SandboxState, 'counterparties' | 'entities'>) => {
    const [type, setType] = useState('wallet');
    return (
      <Panel id="counterparties" title="Counterparties" count={counterparties.length}>
        {counterparties.length === 0 && <Empty>No Counterparty yet.</Empty>}
        <ul class="rows scroll">
          {getLatest(counterparties).map((counterparty) => (
            <li key={counterparty.id} class="party">
              <div class="who">
                <h3>{counterparty.name}</h3>
                <RecordLink id={counterparty.id} />
              </div>
              <small>
                {formatStatus(counterparty.type)} · {counterparty.chain ?? counterparty.bankName} ·{' '}
                <code>{counterparty.walletAddress ?? counterparty.accountNumber}</code>
              </small>
            </li>
          ))}
        </ul>
        <MoreRows of={counterparties} />
        <Create noun="Counterparty" endpoint="counterparties">
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
        </Create>
      </Panel>
    );
  },
);

export const Ibans = memo(({ ibans, accounts }: Pick<SandboxState, 'ibans' | 'accounts'>) => {
  const { run } = useActions();
  return (
    <Panel id="ibans" title="IBANs" count={ibans.length}>
      {ibans.length === 0 && <Empty>No IBAN yet.</Empty>}
      <ul class="rows scroll">
        {getLatest(ibans).map(({ id, iban, accountId, currency }) => (
          <li key={id} class="party">
            <div class="who">
              <h3 class="iban">{iban}</h3>
              <RecordLink id={id} />
            </div>
            <small>
              {currency} into <RecordLink id={accountId} />
            </small>
            <AmountForm
              verb="Deposit"
              id={id}
              onAmount={(amount) =>
                run(`${amount} ${currency} through ${id}.`, () =>
                  callControl('POST', `ibans/${id}/deposit`, JSON.stringify({ amount })),
                )
              }
            />
          </li>
        ))}
      </ul>
      <MoreRows of={ibans} />
      <Create noun="IBAN" endpoint="ibans">
        <Choice
          label="Account"
          name="accountId"
          options={accounts.slice(0, maxRows).map(({ id, name }) => [id, `${id} ${name}`])}
        />
      </Create>
    </Panel>
  );
});
