import { stripTypeScriptTypes } from 'node:module';
import {
  isOutcomeUnknown,
  PaymentsError,
  type ClientOptions,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
import { formatOptions } from '../../src/commands/probe/report.ts';
import type { Probed } from '../../src/commands/probe/run.ts';
import { deviatingPlatforms } from '../probe/deviations.ts';
import { setup } from '../probe/platforms.ts';

/** Runs the option that the probe prints, as a user who has pasted it. */
async function pasteOptions(probed: Probed): Promise<ClientOptions> {
  const module = stripTypeScriptTypes(`export default { ${formatOptions(probed)} };`);
  const url = `data:text/javascript,${encodeURIComponent(module)}`;
  return ((await import(url)) as { default: ClientOptions }).default;
}

const minute = 60_000;
const errorBody = '50 Do errors have the documented Error body?';
const input: OnceInput = {
  sourceAccountId: 'acc_000001',
  destinationAccountId: 'acc_000002',
  amount: '12.50',
  description: 'salary-2026-11-0017-of-employee-4711-Ada',
};

const orders = ['oldest_first', 'newest_first'] as const;
const cases = deviatingPlatforms.flatMap((platform) =>
  orders.map((listOrder) => ({ ...platform, listOrder })),
);

test.each(cases)(
  'createOnce never pays twice with options that payments-probe suggests: $name, $listOrder',
  async ({ name, respond, listOrder, rows }) => {
    // Only the 404 of this platform is an HTML page, and its 422 has the Error body.
    const isHtml = name === 'a 404 page of nginx';
    const isSearchable = !Object.entries(rows).some(
      ([question, fact]) => /^(59|60|65) /.test(question) && fact.startsWith('contradicted'),
    );
    const start = () => {
      const platform = setup({ deviation: respond, listOrder });
      const { sandbox, clock } = platform;
      const journal = memoryJournal({ now: () => clock.now() });
      const count = () => {
        const all = sandbox.exportState().transfers as unknown as { amount: string }[];
        return all.filter(({ amount }) => amount === input.amount).length;
      };
      return { ...platform, journal, count };
    };
    const options = await pasteOptions(
      await setup({ deviation: respond, listOrder }).probe({ twice: true }),
    );

    /** Makes the same call until it resolves, for up to an hour; the number of transfers never exceeds one. */
    const payUntilDecided = async (platform: ReturnType<typeof start>, changes: object) => {
      const payments = platform.payments.withOptions({ ...options, journal: platform.journal });
      let error: unknown;
      for (let call = 0; call < 20; call += 1) {
        const paying = payments.transfers.createOnce({ ...input, ...changes });
        try {
          return { transfer: await platform.clock.runTimersDuring(paying), error: undefined };
        } catch (thrown) {
          error = thrown;
        }
        expect(error).toBeInstanceOf(PaymentsError);
        expect(platform.count()).toBeLessThanOrEqual(1);
        platform.clock.jump(3 * minute);
      }
      return { transfer: undefined, error };
    };

    for (const when of ['before_commit', 'after_commit'] as const) {
      const platform = start();
      platform.sandbox.faults.add({
        operation: 'transfers.create',
        fault: { kind: 'reset', when },
      });
      const { transfer, error } = await payUntilDecided(platform, {});
      // A payment may stay in doubt only if the probe has reported that a search can miss it.
      if (isSearchable) expect({ when, error }).toEqual({ when, error: undefined });
      if (transfer === undefined) expect(isOutcomeUnknown(error)).toBe(true);
      else expect(platform.count()).toBe(1);
    }

    // A rejection is recognised only if the probe has found out how the platform writes its errors.
    const platform = start();
    const { error } = await payUntilDecided(platform, { amount: '99999' });
    const isReadable = rows[errorBody] === undefined || options.platform?.isErrorBody !== undefined;
    expect((error as PaymentsError).outcome).toBe(isReadable || isHtml ? 'rejected' : 'unknown');
    expect(platform.count()).toBe(0);
  },
);
