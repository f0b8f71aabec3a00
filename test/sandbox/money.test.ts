import * as fc from 'fast-check';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';

/** Money in the test's own words: 10^-18 units, read without any code of the sandbox. */
function unitsOf(text: string): bigint {
  const [whole = '', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(18, '0'));
}
const total = (texts: string[]) => texts.map(unitsOf).reduce((sum, units) => sum + units, 0n);

const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 6n }), fc.stringMatching(/^\d{0,18}$/))
  .map(([whole, fraction]) => (fraction === '' ? String(whole) : `${whole}.${fraction}`))
  .filter((text) => /[1-9]/.test(text));

test('accounts.fund of a sandbox adds amounts exactly', () => {
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 10 }), (amounts) => {
      const sandbox = new Sandbox();
      const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
      const { id } = sandbox.accounts.create({ entityId });
      for (const text of amounts) sandbox.accounts.fund(id, text);
      const { availableBalance } = sandbox.accounts.get(id);
      expect(unitsOf(availableBalance)).toBe(total(amounts));
      expect(availableBalance).toMatch(/^(0|[1-9]\d*)\.\d{2}(\d*[1-9])?$/);
    }),
  );
});

test('random transfers in a sandbox neither create nor lose money', () => {
  const step = fc.oneof(
    fc.record({
      do: fc.constant('create' as const),
      from: fc.nat({ max: 2 }),
      to: fc.nat({ max: 4 }),
      amount,
    }),
    fc.record({
      do: fc.constantFrom('advance' as const, 'fail' as const, 'cancel' as const),
      which: fc.nat({ max: 20 }),
    }),
    fc.record({ do: fc.constant('delete' as const), which: fc.nat({ max: 1 }) }),
  );
  fc.assert(
    fc.property(
      fc.array(amount, { minLength: 3, maxLength: 3 }),
      fc.array(step, { maxLength: 40 }),
      (funds, steps) => {
        const sandbox = new Sandbox();
        const { id: entityId } = sandbox.entities.create({ email: 'a@b.example' });
        for (const fund of funds) {
          sandbox.accounts.fund(sandbox.accounts.create({ entityId }).id, fund);
        }
        const accounts = ['acc_000001', 'acc_000002', 'acc_000003'] as const;
        const outside = ['cpty_000001', 'cpty_000002'] as const;
        outside.forEach(() => sandbox.counterparties.create({ entityId }));
        for (const each of steps) {
          try {
            if (each.do === 'create') {
              const sourceAccountId = accounts[each.from] ?? accounts[0];
              const destinationAccountId = accounts[each.to];
              const counterpartyId = outside[each.to - accounts.length] ?? outside[0];
              sandbox.transfers.create({
                sourceAccountId,
                amount: each.amount,
                ...(destinationAccountId === undefined
                  ? { counterpartyId }
                  : { destinationAccountId }),
              });
            } else if (each.do === 'delete') {
              sandbox.counterparties.delete(outside[each.which] ?? '');
            } else {
              sandbox.transfers[each.do](`txfr_${String(each.which).padStart(6, '0')}`);
            }
          } catch (error) {
            expect(error).toMatchObject({ name: 'SandboxError' });
          }
          const all = sandbox.accounts.list();
          const transfers = sandbox.transfers.list();
          const amountsOf = (keep: (transfer: (typeof transfers)[number]) => boolean) =>
            total(transfers.filter(keep).map((transfer) => transfer.amount));
          const isOpen = ({ status }: { status: string }) =>
            status === 'pending' || status === 'processing';
          for (const account of all) {
            for (const balance of [
              account.availableBalance,
              account.pendingBalance,
              account.lockedBalance,
            ]) {
              expect(balance).not.toContain('-');
            }
            expect(unitsOf(account.lockedBalance)).toBe(
              amountsOf((one) => isOpen(one) && one.sourceAccountId === account.id),
            );
            expect(unitsOf(account.pendingBalance)).toBe(
              amountsOf((one) => isOpen(one) && one.destinationAccountId === account.id),
            );
          }
          const left = amountsOf((one) => one.status === 'completed' && one.type !== 'book');
          const here = total(
            all.flatMap((account) => [account.availableBalance, account.lockedBalance]),
          );
          expect(here + left).toBe(total(funds));
        }
      },
    ),
    { numRuns: 150 },
  );
});
