import { expect, test } from 'vitest';
import { deviatingPlatforms } from './deviations.ts';
import { factsOf, setup } from './platforms.ts';

const baseline = setup().probe({ twice: true }).then(factsOf);

test.each(deviatingPlatforms)(
  'on a platform with $name, the report of payments-probe changes in the rows that ask about it, and in no other',
  async ({ respond, rows, options = {}, advice = [] }) => {
    const { probe } = setup({ deviation: respond });
    const probed = await probe({ twice: true });
    expect(factsOf(probed)).toEqual({ ...(await baseline), ...rows });
    expect(probed.report.options).toEqual(options);
    const texts = probed.advice.map(({ text }) => text);
    for (const pattern of advice) expect(texts).toContainEqual(expect.stringMatching(pattern));
  },
);
