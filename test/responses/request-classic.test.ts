/*
 * In a file of its own: importing the classic zod sets messages for every schema in the process,
 * those of zod/mini included. An application that uses both must still be told what to do.
 */
import type { EntityCreateInput } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { observed } from '../support/clients.ts';
import { buildInput, furnishedPlatform, observedSandbox } from '../support/platform.ts';

test('a schema of classic zod checks an answer and transforms it', async () => {
  const { payments } = observedSandbox(furnishedPlatform());
  const schema = z.object({
    id: z.string().startsWith('acc_'),
    createdAt: z.iso.datetime().transform((text) => new Date(text)),
  });
  const account = await payments.request({
    method: 'GET',
    path: '/accounts/acc_000001',
    api: 'versioned',
    schema,
  });
  expect(account).toEqual({ id: 'acc_000001', createdAt: new Date(Date.UTC(2026, 0, 15)) });
});

test('a schema of classic zod that does not fit is told by its own words', async () => {
  const { payments } = observed(() => Response.json({ id: 5 }));
  const schema = z.object({ id: z.string() });
  await expect(
    payments.request({ method: 'GET', path: '/x', api: 'versioned', schema }),
  ).rejects.toMatchObject({
    issues: [{ path: 'id', message: expect.stringMatching(/expected a? ?string/) }],
  });
});

test('arguments are refused in the same words whether classic zod is there or not', async () => {
  const { payments, sent } = observed();
  const missing = payments.entities.create(undefined as unknown as EntityCreateInput);
  await expect(missing).rejects.toMatchObject({
    issues: [{ path: '', message: 'got nothing; expected an object' }],
  });
  const { refuelERC20 } = buildInput.actionArguments;
  const nested = payments.instructions.build({
    ...buildInput,
    actionArguments: { refuelERC20: { ...refuelERC20, fee: 'free' as never } },
  });
  await expect(nested).rejects.toMatchObject({
    issues: [
      { path: 'actionArguments.refuelERC20.fee', message: 'got a string; expected an object' },
    ],
  });
  expect(sent).toEqual([]);
});
