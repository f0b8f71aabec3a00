import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient } from 'payments-platform-sdk';
import { sqliteJournal } from 'payments-platform-sdk/journals';
import { expect, onTestFinished, test } from 'vitest';
import { createPlatform, newInput } from '../stores/scenarios.ts';
import { commandIn, fileOfCommand } from '../support/commands.ts';
import { listen } from 'payments-platform-sdk/sandbox/server';

test('payments-journal shows and migrates an entry whose terms were pruned', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-pruned-'));
  const path = join(folder, 'payments.db');
  const journal = sqliteJournal(path);
  const sandbox = createPlatform();
  const server = await listen(sandbox, { port: 0 });
  onTestFinished(async () => {
    journal.close();
    await server.close();
    rmSync(folder, { recursive: true });
  });
  const { transfers } = new PaymentsClient({ ...server.clientOptions, journal });
  const input = newInput();
  const { id } = await transfers.createOnce(input);
  const paidBefore = new Date(Date.now() + 60_000);
  expect(await journal.prune({ paidBefore, keepReferences: true })).toBe(1);
  const entry = await journal.read(input.description);
  const { run } = commandIn(folder, fileOfCommand('journals'), onTestFinished);
  const { out, status } = await run(['show', input.description, '--sqlite', path]);
  expect([status, out]).toEqual([0, expect.stringContaining(id)]);
  expect(out).toContain('its terms were dropped by prune');
  expect(await run(['migrate', '--sqlite', path])).toMatchObject({ status: 0 });
  expect(await journal.read(input.description)).toEqual(entry);
  expect(await transfers.createOnce(input)).toMatchObject({ id, result: 'recorded' });
});
