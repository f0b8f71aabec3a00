import { memo } from 'preact/compat';
import type { Account } from '../../schemas/account.ts';
import type { SandboxState } from '../state.ts';
import type { PageState } from './live.ts';
import { EntityChoice } from './parties.tsx';
import { AmountForm, Create, Empty, Field, maxRows, Panel, Who } from './parts.tsx';

const width = 120;
const height = 28;

/** Draws an Account's balances over time, scaled between the lowest and the highest balance. */
function BalanceLine({ points }: { points: readonly number[] }) {
  const minimum = Math.min(...points);
  // If all balances are equal, 1 stands for their difference, because `getY` divides by it.
  const span = Math.max(...points) - minimum || 1;
  const step = width / Math.max(points.length - 1, 1);
  // A margin of two pixels above and below keeps the whole line visible.
  const getY = (point: number) => height - 2 - ((point - minimum) / span) * (height - 4);
  // A balance is constant until it changes, so the line runs across (H) and then up or down (V).
  // The line begins with a move (M), which takes both coordinates, so the first V is removed.
  const steps = points.map((point, at) => `${at === 0 ? 'M' : 'H'}${at * step}V${getY(point)}`);
  const path = steps.join('').replace('V', ' ');
  return (
    <svg
      class="line"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={points.length === 1 ? `${path}H${width}` : path} />
    </svg>
  );
}

const isZero = (amount: string) => /^[0.]*$/.test(amount);

const Row = memo((props: { account: Account; points: readonly number[] }) => {
  const { account, points } = props;
  const { id, name, currency, availableBalance, lockedBalance, pendingBalance } = account;
  return (
    <li class="account">
      <Who name={name} id={id} />
      <BalanceLine points={points} />
      <div class="money">
        {/* A new key creates a new element, which starts the animation of a changed balance. */}
        <data key={availableBalance} class="balance" value={availableBalance}>
          {availableBalance} <small>{currency}</small>
        </data>
        <small>
          {isZero(lockedBalance) ? '' : `${lockedBalance} locked `}
          {isZero(pendingBalance) ? '' : `${pendingBalance} pending`}
        </small>
      </div>
      <AmountForm
        verb="Fund"
        id={id}
        endpoint={`accounts/${id}/fund`}
        target={`${currency} into ${id}`}
      />
    </li>
  );
});

export const Accounts = memo(
  (props: Pick<SandboxState, 'accounts' | 'entities'> & Pick<PageState, 'balances'>) => {
    const { accounts, entities, balances } = props;
    return (
      <Panel id="accounts" count={accounts.length}>
        {accounts.length === 0 && <Empty>No Account yet.</Empty>}
        <ul class="rows scroll">
          {accounts.slice(0, maxRows).map((account) => (
            <Row key={account.id} account={account} points={balances.get(account.id) ?? []} />
          ))}
        </ul>
        {accounts.length > maxRows && <Empty>The first {maxRows} are shown.</Empty>}
        <Create noun="Account" endpoint="accounts">
          <EntityChoice entities={entities} />
          <Field label="Name" name="name" required />
        </Create>
      </Panel>
    );
  },
);
