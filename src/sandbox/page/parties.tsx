import { memo } from 'preact/compat';
import { useState } from 'preact/hooks';
import type { Entity } from '../../schemas/entity.ts';
import type { SandboxState } from '../state.ts';
import { ask } from './live.ts';
import {
  AmountForm,
  Badge,
  Choice,
  Deed,
  Empty,
  Field,
  Form,
  mostRows,
  Panel,
  useDeeds,
  useKeptFocus,
} from './parts.tsx';

const toneOf = (status: string) =>
  status === 'approved' ? 'good' : status === 'rejected' ? 'bad' : 'wait';
const spoken = (status: string) => status.replaceAll('_', ' ');

function EntityRow({ entity: { id, email, kycStatus, tosStatus } }: { entity: Entity }) {
  const { run } = useDeeds();
  const row = useKeptFocus<HTMLLIElement>();
  return (
    <li class="party" ref={row} tabIndex={-1}>
      <div class="who">
        <h3>{email}</h3>
        <code>{id}</code>
      </div>
      <div class="fates">
        <Badge text={`KYC ${spoken(kycStatus)}`} tone={toneOf(kycStatus)} />
        <Badge text={`terms ${spoken(tosStatus)}`} tone={toneOf(tosStatus)} />
      </div>
      {(kycStatus !== 'approved' || tosStatus !== 'approved') && (
        <Deed
          label="Approve"
          of={id}
          onClick={() => {
            void run(`${id} is approved.`, () => ask('POST', `entities/${id}/approve`));
          }}
        />
      )}
    </li>
  );
}

const latest = <Row,>(rows: readonly Row[]): Row[] => rows.slice(-mostRows).toReversed();
const Rest = ({ of: { length } }: { of: readonly unknown[] }) =>
  length > mostRows ? (
    <Empty>
      The latest {mostRows} of {length} are shown.
    </Empty>
  ) : null;

export const Entities = memo(({ entities }: Pick<SandboxState, 'entities'>) => (
  <Panel id="entities" title="Entities" count={entities.length}>
    {entities.length === 0 && <Empty>No Entity yet: the API makes them.</Empty>}
    <ul class="rows scroll">
      {latest(entities).map((entity) => (
        <EntityRow key={entity.id} entity={entity} />
      ))}
    </ul>
    <Rest of={entities} />
  </Panel>
));

export const Counterparties = memo(
  ({ counterparties, entities }: Pick<SandboxState, 'counterparties' | 'entities'>) => {
    const [type, setType] = useState('wallet');
    const { run } = useDeeds();
    return (
      <Panel id="counterparties" title="Counterparties" count={counterparties.length}>
        {counterparties.length === 0 && <Empty>No Counterparty yet.</Empty>}
        <ul class="rows scroll">
          {latest(counterparties).map((each) => (
            <li key={each.id} class="party">
              <div class="who">
                <h3>{each.name}</h3>
                <code>{each.id}</code>
              </div>
              <small>
                {spoken(each.type)} · {each.chain ?? each.bankName} ·{' '}
                <code>{each.walletAddress ?? each.accountNumber}</code>
              </small>
            </li>
          ))}
        </ul>
        <Rest of={counterparties} />
        <Form
          label="Create a Counterparty"
          submit="Create"
          submitLabel="Create Counterparty"
          onFields={(fields) =>
            run('The Counterparty is there.', () =>
              ask('POST', 'counterparties', JSON.stringify(fields)),
            )
          }
        >
          <Choice
            label="Entity"
            name="entityId"
            options={latest(entities).map(({ id, email }) => [id, `${id} ${email}`])}
          />
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
        </Form>
      </Panel>
    );
  },
);

export const Ibans = memo(({ ibans, accounts }: Pick<SandboxState, 'ibans' | 'accounts'>) => {
  const { run } = useDeeds();
  return (
    <Panel id="ibans" title="IBANs" count={ibans.length}>
      {ibans.length === 0 && <Empty>No IBAN yet.</Empty>}
      <ul class="rows scroll">
        {latest(ibans).map(({ id, iban, accountId, currency }) => (
          <li key={id} class="party">
            <div class="who">
              <h3 class="iban">{iban}</h3>
              <code>{id}</code>
            </div>
            <small>
              {currency} into <code>{accountId}</code>
            </small>
            <AmountForm
              verb="Deposit"
              id={id}
              onAmount={(amount) =>
                run(`${amount} ${currency} through ${id}.`, () =>
                  ask('POST', `ibans/${id}/deposit`, JSON.stringify({ amount })),
                )
              }
            />
          </li>
        ))}
      </ul>
      <Rest of={ibans} />
      <Form
        label="Create an IBAN"
        submit="Create"
        submitLabel="Create IBAN"
        onFields={(fields) =>
          run('The IBAN is there.', () => ask('POST', 'ibans', JSON.stringify(fields)))
        }
      >
        <Choice
          label="Account"
          name="accountId"
          options={accounts.slice(0, mostRows).map(({ id, name }) => [id, `${id} ${name}`])}
        />
      </Form>
    </Panel>
  );
});
