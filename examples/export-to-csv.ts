// Writes every transfer into a CSV file, and resumes after a crash. When a page has arrived, the program
// stores its cursor with the length of the file before it. A new start truncates the file to that length
// and requests that page again. A platform may refuse a cursor that is too old, and then the list begins at
// its first page. Rows are compared by id, so none is written twice, also when the list moves while it is
// read. With PAYMENTS_BASE_URL it exports to the file that you name, such as `node export-to-csv.ts
// transfers.csv`; otherwise it runs on a sandbox. Needs `npm install csv-stringify`.
import { mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'csv-stringify/sync';
import { isApiError, PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const columns = ['id', 'createdAt', 'status', 'amount', 'currency', 'description'];

interface Progress {
  readonly cursor?: string;
  readonly bytes: number;
}

async function exportTransfers(payments: PaymentsClient, file: string): Promise<void> {
  const progressFile = `${file}.progress.json`;
  const stored = await readFile(progressFile, 'utf8').catch(() => '{"bytes":0}');
  const { cursor, bytes } = JSON.parse(stored) as Progress;
  const csv = await open(file, 'a');
  try {
    if ((await csv.stat()).size < bytes)
      throw new Error('the file is shorter than its stored length');
    await csv.truncate(bytes);
    // Inside a cell a quote is doubled, so no description can look like the first cell of a row.
    const rows = (await readFile(file, 'utf8')).matchAll(/^"([^"\n]+)",/gm);
    const ids = new Set(Array.from(rows, ([, id]) => id));
    let next = cursor;
    for await (const page of readPages(payments, cursor)) {
      const { size } = await csv.stat();
      if (next !== undefined) {
        const progress: Progress = { cursor: next, bytes: size };
        // A rename is atomic, so the progress file is never half written.
        await writeFile(`${progressFile}.new`, JSON.stringify(progress));
        await rename(`${progressFile}.new`, progressFile);
      }
      const unwritten = page.data.filter(({ id }) => !ids.has(id));
      for (const { id } of unwritten) ids.add(id);
      const text = stringify(unwritten, {
        columns,
        header: size === 0,
        bom: size === 0, // Excel reads UTF-8 only with it.
        quoted: true,
        // A description that starts with = would run as a formula where the file is opened.
        escape_formulas: true,
      });
      await csv.appendFile(text);
      await csv.sync();
      // Stored only after it has returned a page: after a PaginationError it is of no use.
      next = page.nextCursor ?? undefined;
    }
  } finally {
    await csv.close();
  }
}

async function* readPages(payments: PaymentsClient, cursor: string | undefined) {
  try {
    yield* payments.transfers.list({ limit: 100, cursor }).pages();
  } catch (error) {
    const isRefused = isApiError(error) && [400, 404, 410, 422].includes(error.status);
    if (cursor === undefined || !isRefused || error.resume?.itemsYielded !== 0) throw error;
    yield* payments.transfers.list({ limit: 100 }).pages();
  }
}

if (process.env['PAYMENTS_BASE_URL'] === undefined) await runDemo();
else await exportTransfers(new PaymentsClient(), process.argv[2] ?? 'transfers.csv');

async function runDemo(): Promise<void> {
  const sandbox = new Sandbox();
  const entity = sandbox.entities.create({ email: 'ada@example.com' });
  const source = sandbox.accounts.create({ entityId: entity.id });
  const destination = sandbox.accounts.create({ entityId: entity.id });
  sandbox.accounts.fund(source.id, '1000.00');
  const accounts = { sourceAccountId: source.id, destinationAccountId: destination.id };
  const descriptions = ['=HYPERLINK("https://example.com","salary")', 'Müller'];
  for (let count = 0; count < 450; count += 1) {
    const description = descriptions[count];
    sandbox.transfers.create({ ...accounts, amount: '1.00', description });
  }

  // The third page fails. After the new start, the cursor of a page repeats.
  for (const [after, fault] of [
    [2, { kind: 'status', status: 503 }],
    [4, { kind: 'repeated_cursor' }],
  ] as const) {
    sandbox.faults.add({ operation: 'transfers.list', after, fault });
  }
  const payments = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0 });
  const folder = await mkdtemp(join(tmpdir(), 'export-'));
  const file = join(folder, 'transfers.csv');
  for (let start = 1; start <= 3; start += 1) {
    try {
      await exportTransfers(payments, file);
      break;
    } catch (error) {
      console.log('it broke off:', error instanceof Error ? error.name : error);
    }
  }

  const [header, ...lines] = (await readFile(file, 'utf8')).trim().split('\n');
  console.log([header, ...lines.slice(0, 3)].join('\n'));
  console.log(`${lines.length} rows, ${new Set(lines).size} of them different`);
  await rm(folder, { recursive: true });
}
