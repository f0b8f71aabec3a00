import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { behavioursOf, runBehaviour } from '../transports/behaviour.ts';
import { availableTransports } from '../transports/client-transports.ts';

// The same list on the other runtimes, with the package as it is installed: test/runtimes/transports.mjs.

const ways = availableTransports();

test('Node has seven ways out', () => {
  expect(ways.map(({ transportName, writes }) => [transportName, writes])).toEqual([
    ['dispatcher', true],
    ['dispatcher', false],
    ['fetch', true],
    ['node:http', false],
    ['given fetch', true],
    ['replaced fetch', true],
    ['getWithBody', false],
  ]);
});

describe.each(ways)('$name', (way) => {
  let putBack = (): void => undefined;
  beforeAll(() => {
    putBack = way.install();
  });
  afterAll(() => {
    putBack();
  });
  const behaviours = behavioursOf(way).map((behaviour) => [behaviour.name, behaviour] as const);
  test.concurrent.each(behaviours)('%s', async (_, behaviour) => {
    await runBehaviour(sdk, way, behaviour);
  });
});
