/*
 * These tests have a file of their own because importing classic zod sets messages for every
 * schema in the process, those of zod/mini included. The messages of the client must not change.
 */
import type { EntityCreateInput } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { clientOf } from '../support/clients.ts';
import { buildInput, seededSandbox, clientOfSandbox } from '../support/platform.ts';

test('a schema of classic zod checks and transforms a response', async () => {
  const { payments } = clientOfSandbox(seededSandbox());
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

test('a mismatch with a schema of classic zod is reported with its message', async () => {
  const { payments } = clientOf(() => Response.json({ id: 5 }));
  const schema = z.object({ id: z.string() });
  await expect(
    payments.request({ method: 'GET', path: '/x', api: 'versioned', schema }),
  ).rejects.toMatchObject({
    issues: [{ path: 'id', message: expect.stringMatching(/expected a? ?string/) }],
  });
});

test('invalid arguments have the same message with and without classic zod', async () => {
  const { payments, requests } = clientOf();
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
  expect(requests).toEqual([]);
});
