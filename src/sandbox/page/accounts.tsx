import { memo } from 'preact/compat';
import type { Account } from '../../schemas/account.ts';
import { ask, type World } from './live.ts';
import { AmountForm, Empty, mostRows, Panel, useDeeds } from './parts.tsx';

const width = 120;
const height = 28;

/** Each balance over time, drawn between its own least and most. */
function Line({ points }: { points: readonly number[] }) {
  const least = Math.min(...points);
  const span = Math.max(...points) - least || 1;
  const step = width / Math.max(points.length - 1, 1);
  const level = (point: number) => height - 2 - ((point - least) / span) * (height - 4);
  const steps = points.map((point, at) => `${at === 0 ? 'M' : 'H'}${at * step}V${level(point)}`);
  const way = steps.join('').replace('V', ' ');
  return (
    <svg
      class="line"
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <path d={points.length === 1 ? `${way}H${width}` : way} />
    </svg>
  );
}

const isZero = (amount: string) => /^[0.]*$/.test(amount);

const Row = memo((props: { account: Account; points: readonly number[] }) => {
  const { account, points } = props;
  const { id, name, currency, availableBalance, lockedBalance, pendingBalance } = account;
  const { run } = useDeeds();
  return (
    <li class="account">
      <div class="who">
        <h3>{name}</h3>
        <code>{id}</code>
      </div>
      <Line points={points} />
      <div class="money">
        {/* A fresh node is what starts the animation. */}
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
        onAmount={(amount) =>
          run(`${amount} ${currency} into ${id}.`, () =>
            ask('POST', `accounts/${id}/fund`, JSON.stringify({ amount })),
          )
        }
      />
    </li>
  );
});

export const Accounts = memo(
  (props: { accounts: readonly Account[] } & Pick<World, 'balances'>) => {
    const { accounts, balances } = props;
    return (
      <Panel id="accounts" title="Accounts" count={accounts.length}>
        {accounts.length === 0 && <Empty>No Account yet: the API makes them.</Empty>}
        <ul class="rows scroll">
          {accounts.slice(0, mostRows).map((account) => (
            <Row key={account.id} account={account} points={balances.get(account.id) ?? []} />
          ))}
        </ul>
        {accounts.length > mostRows && <Empty>The first {mostRows} are shown.</Empty>}
      </Panel>
    );
  },
);
