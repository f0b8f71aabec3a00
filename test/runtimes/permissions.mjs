// Calls of a process that may not connect, read its environment or use a file. Prints a line for
// each call that ends as it should.
import { PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal, sqliteJournal } from 'payments-platform-sdk/journals';

const payments = new PaymentsClient({
  baseUrl: 'http://127.0.0.1:2/v0',
  apiKey: 'sk_test_1',
  jwt: 'a.b.c',
  journal: memoryJournal(),
});
const input = {
  sourceAccountId: 'acc_1',
  destinationAccountId: 'acc_2',
  amount: '1.00',
  description: 'invoice 4711',
};
const calls = {
  list: () => payments.accounts.list(),
  'GET with body': () => payments.instructions.list({ address: `0x${'1'.repeat(40)}` }),
  create: () => payments.transfers.create(input),
  createOnce: () => payments.transfers.createOnce(input),
  delete: () => payments.counterparties.delete('cpty_1'),
};
for (const [name, call] of Object.entries(calls)) {
  const { outcome, retryable, attempts, message } = await call().then(
    () => ({}),
    (error) => error,
  );
  const isRight =
    outcome === 'not_sent' &&
    retryable === false &&
    attempts.length === 1 &&
    message.includes('--allow-net');
  console.log(isRight ? `right ${name}` : `WRONG ${name}: ${outcome} ${message}`);
}
try {
  sqliteJournal('/payments.db');
} catch ({ message }) {
  const isRight = /^sqliteJournal: \/payments\.db cannot be used: .*--allow-\S*read/.test(message);
  console.log(isRight ? 'right sqliteJournal' : `WRONG sqliteJournal: ${message}`);
}
// Deno keeps the body open that it was not permitted to send, and would not end by itself.
process.exit();
