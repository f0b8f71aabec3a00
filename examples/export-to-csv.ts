// Writes every transfer into a CSV file, and goes on after a crash where it stopped. When a page has
// arrived, its cursor is noted with the length of the file before it; a new start cuts the file back to
// that length and asks for that page again. So no row is missing, and none is there twice.
import { mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient, type Transfer } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const folder = await mkdtemp(join(tmpdir(), 'export-'));
const file = join(folder, 'transfers.csv');
const notes = join(folder, 'transfers.progress.json');

interface Progress {
  readonly cursor?: string;
  readonly bytes: number;
}

const cell = (text: string | null | undefined): string => `"${(text ?? '').replaceAll('"', '""')}"`;
const row = (transfer: Transfer): string =>
  `${[transfer.id, transfer.createdAt, transfer.status, transfer.amount, transfer.currency, transfer.description].map(cell).join(',')}\n`;

async function exportTransfers(payments: PaymentsClient): Promise<void> {
  const noted = await readFile(notes, 'utf8').catch(() => '{"bytes":0}');
  const { cursor, bytes } = JSON.parse(noted) as Progress;
  const csv = await open(file, 'a');
  try {
    if ((await csv.stat()).size < bytes) throw new Error('the file is shorter than was noted');
    await csv.truncate(bytes);
    let next = cursor;
    for await (const page of payments.transfers.list({ limit: 100, cursor }).pages()) {
      if (next !== undefined) {
        const progress: Progress = { cursor: next, bytes: (await csv.stat()).size };
        // A rename is all or nothing; a note that is half written would be worse than none.
        await writeFile(`${notes}.new`, JSON.stringify(progress));
        await rename(`${notes}.new`, notes);
      }
      await csv.appendFile(page.data.map(row).join(''));
      await csv.sync();
      // Noted only once it has led to a page: after a PaginationError it leads nowhere.
      next = page.nextCursor ?? undefined;
    }
  } finally {
    await csv.close();
  }
}

const sandbox = new Sandbox();
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const source = sandbox.accounts.create({ entityId: entity.id });
const destination = sandbox.accounts.create({ entityId: entity.id });
sandbox.accounts.fund(source.id, '1000.00');
const terms = { sourceAccountId: source.id, destinationAccountId: destination.id } as const;
for (let count = 0; count < 450; count += 1) sandbox.transfers.create({ ...terms, amount: '1.00' });

// The third page fails. After the new start, one leads back to itself.
for (const [after, fault] of [
  [2, { kind: 'status', status: 503 }],
  [4, { kind: 'repeated_cursor' }],
] as const) {
  sandbox.faults.add({ operation: 'transfers.list', after, fault });
}
const payments = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0 });
for (let start = 1; start <= 3; start += 1) {
  try {
    await exportTransfers(payments);
    break;
  } catch (error) {
    console.log('it broke off:', error instanceof Error ? error.name : error);
  }
}

const lines = (await readFile(file, 'utf8')).trim().split('\n');
console.log(`${lines.length} rows, ${new Set(lines).size} of them different`);
await rm(folder, { recursive: true });
