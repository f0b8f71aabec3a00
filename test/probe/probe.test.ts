import { expect, test } from 'vitest';
import { deviatingPlatforms } from './deviations.ts';
import { factsOf, setup } from './platforms.ts';

const baseline = setup().probe({ twice: true }).then(factsOf);

test.each(deviatingPlatforms)(
  'payments-probe reports $name, and only in the right rows',
  async ({ respond, rows, options = {}, advice = [] }) => {
    const { probe } = setup({ deviation: respond });
    const probed = await probe({ twice: true });
    expect(factsOf(probed)).toEqual({ ...(await baseline), ...rows });
    expect(probed.report.options).toEqual({ platform: options });
    const texts = probed.advice.map(({ text }) => text);
    for (const pattern of advice) expect(texts).toContainEqual(expect.stringMatching(pattern));
  },
);
