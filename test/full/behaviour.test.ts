import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as sdk from '../../src/index.ts';
import { behavioursOf, runBehaviour } from '../transports/behaviour.ts';
import { availableTransports } from '../transports/client-transports.ts';

// test/runtimes/transports.mjs runs the same list on the other runtimes, with the installed package.

const transports = availableTransports();

test('availableTransports returns the five transports of Node.js', () => {
  expect(transports.map(({ transportName, writes }) => [transportName, writes])).toEqual([
    ['node:http', true],
    ['node:http', false],
    ['fetch', true],
    ['given fetch', true],
    ['getWithBody', false],
  ]);
});

describe.each(transports)('the transport $name', (way) => {
  let restore = (): void => undefined;
  beforeAll(() => {
    restore = way.install();
  });
  afterAll(() => {
    restore();
  });
  const behaviours = behavioursOf(way).map((behaviour) => [behaviour.name, behaviour] as const);
  test.concurrent.each(behaviours)('behaves as the client requires: %s', async (_, behaviour) => {
    await runBehaviour(sdk, way, behaviour);
  });
});
