import { memo } from 'preact/compat';
import type { Account } from '../../schemas/account.ts';
import type { SandboxState } from '../state.ts';
import { callControl } from './live.ts';
import { EntityChoice } from './parties.tsx';
import { Field, Form, RecordPanel, Who } from './parts.tsx';

const isZero = (amount: string) => /^[0.]*$/.test(amount);

const Row = ({ account }: { account: Account }) => {
  const { id, name, currency, availableBalance, lockedBalance, pendingBalance } = account;
  return (
    <li class="party">
      <Who name={name} id={id} />
      <div>
        <data class="balance" value={availableBalance}>
          {availableBalance} <small>{currency}</small>
        </data>{' '}
        <small>
          {isZero(lockedBalance) ? '' : `${lockedBalance} locked `}
          {isZero(pendingBalance) ? '' : `${pendingBalance} pending`}
        </small>
      </div>
      <Form
        label={`Fund ${id}`}
        class="amount-form"
        submit="Fund"
        submitLabel={`Fund ${id}`}
        done={({ amount }) => `${amount} ${currency} into ${id}.`}
        send={({ amount = '' }) =>
          callControl('POST', `accounts/${id}/fund`, JSON.stringify({ amount }))
        }
      >
        <Field ariaLabel={`Amount for ${id}`} name="amount" value="100.00" required decimal />
      </Form>
    </li>
  );
};

export const Accounts = memo(
  ({ accounts, entities }: Pick<SandboxState, 'accounts' | 'entities'>) => (
    <RecordPanel
      id="accounts"
      noun="Account"
      rows={accounts}
      renderRow={(account) => <Row key={account.id} account={account} />}
    >
      <EntityChoice entities={entities} />
      <Field label="Name" name="name" required />
    </RecordPanel>
  ),
);
