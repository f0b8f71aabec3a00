// Writes every transfer into a CSV file, and resumes after a crash. When a page has arrived, the program
// stores its cursor with the length of the file before it. A new start truncates the file to that length
// and requests that page again. So no row is missing, and no row is written twice.
import { mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentsClient, type Transfer } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const folder = await mkdtemp(join(tmpdir(), 'export-'));
const file = join(folder, 'transfers.csv');
const progressFile = join(folder, 'transfers.progress.json');

interface Progress {
  readonly cursor?: string;
  readonly bytes: number;
}

const formatCell = (text: string | null | undefined): string =>
  `"${(text ?? '').replaceAll('"', '""')}"`;
const formatRow = (transfer: Transfer): string =>
  `${[transfer.id, transfer.createdAt, transfer.status, transfer.amount, transfer.currency, transfer.description].map(formatCell).join(',')}\n`;

async function exportTransfers(payments: PaymentsClient): Promise<void> {
  const stored = await readFile(progressFile, 'utf8').catch(() => '{"bytes":0}');
  const { cursor, bytes } = JSON.parse(stored) as Progress;
  const csv = await open(file, 'a');
  try {
    if ((await csv.stat()).size < bytes)
      throw new Error('the file is shorter than its stored length');
    await csv.truncate(bytes);
    let next = cursor;
    for await (const page of payments.transfers.list({ limit: 100, cursor }).pages()) {
      if (next !== undefined) {
        const progress: Progress = { cursor: next, bytes: (await csv.stat()).size };
        // A rename is atomic, so the progress file is never half written.
        await writeFile(`${progressFile}.new`, JSON.stringify(progress));
        await rename(`${progressFile}.new`, progressFile);
      }
      await csv.appendFile(page.data.map(formatRow).join(''));
      await csv.sync();
      // Stored only after it has returned a page: after a PaginationError it is of no use.
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

// The third page fails. After the new start, the cursor of a page repeats.
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
