// A guided tour over real HTTP. Without PAYMENTS_BASE_URL it starts a sandbox on a loopback port;
// with PAYMENTS_BASE_URL it only reads from that platform.
// `npm start -- --watch` leaves the sandbox and its page up until Ctrl+C.
import {
  isOutcomeUnknown,
  NotFoundError,
  PaymentsClient,
  UnprocessableEntityError,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

const print = (line: string) => console.log(line);

if (process.env['PAYMENTS_BASE_URL'] === undefined) await runTour();
else await readLists();

/** Reads one page of each list. */
async function readLists() {
  const payments = new PaymentsClient();
  const accounts = await payments.accounts.list({ limit: 5 });
  const transfers = await payments.transfers.list({ limit: 5 });
  print(`Reading from ${payments.toJSON().baseUrl}`);
  for (const { id, name, availableBalance, currency } of accounts.data) {
    print(`  ${id}  ${name}  ${availableBalance} ${currency}`);
  }
  for (const { id, status, amount, currency } of transfers.data) {
    print(`  ${id}  ${status}  ${amount} ${currency}`);
  }
}

/** Runs the whole tour, against a sandbox. */
async function runTour() {
  const sandbox = new Sandbox();
  const server = await listen(sandbox, { port: 0 });
  const payments = new PaymentsClient(server.clientOptions);
  print(`1. A sandbox platform listens on ${server.baseUrl}`);

  const entity = await payments.entities.create({
    email: 'treasury@example.com',
    businessName: 'Example Trading',
  });
  const operating = await payments.accounts.create({ entityId: entity.id, name: 'Operating' });
  const payroll = await payments.accounts.create({ entityId: entity.id, name: 'Payroll' });
  sandbox.accounts.fund(operating.id, '1000.00');
  print(
    `2. ${entity.id} (${entity.type}) holds ${operating.id} with 1000.00 USDC, and ${payroll.id}`,
  );

  const paid = await payments.transfers.create({
    sourceAccountId: operating.id,
    destinationAccountId: payroll.id,
    amount: '125.50',
    description: 'salaries, November',
  });
  print(`3. ${paid.id} was accepted and is ${paid.status}`);

  // On a real platform the status changes by itself; here the program changes it while the client polls.
  await payments.transfers.waitFor(paid.id, {
    interval: 50,
    onPoll: ({ status }) => {
      print(`   it is ${status}`);
      if (status !== 'completed') sandbox.transfers.advance(paid.id);
    },
  });
  const [from, to] = await Promise.all([
    payments.accounts.get(operating.id),
    payments.accounts.get(payroll.id),
  ]);
  print(
    `4. It is completed: ${from.name} has ${from.availableBalance}, ${to.name} ${to.availableBalance}`,
  );

  for (let count = 1; count < 250; count += 1) {
    sandbox.transfers.create({
      sourceAccountId: operating.id,
      destinationAccountId: payroll.id,
      amount: '0.10',
    });
  }
  let transferCount = 0;
  for await (const transfer of payments.transfers.list({ limit: 100 })) {
    if (transfer.sourceAccountId === operating.id) transferCount += 1;
  }
  print(`5. Paged through ${transferCount} transfers in pages of 100`);

  try {
    await payments.transfers.get('txfr_nowhere');
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    print(`6. NotFoundError ${error.status} ${error.code}, request ${error.requestId}`);
  }

  try {
    await payments.transfers.create({
      sourceAccountId: payroll.id,
      destinationAccountId: operating.id,
      amount: '1000000.00',
    });
  } catch (error) {
    if (!(error instanceof UnprocessableEntityError)) throw error;
    print(`7. Rejected: ${error.code}; outcome ${error.outcome}, so no money moved`);
  }

  const input = {
    sourceAccountId: operating.id,
    destinationAccountId: payroll.id,
    amount: '40.00',
    description: 'invoice 4711',
  };
  const since = new Date();
  sandbox.faults.add({
    operation: 'transfers.create',
    times: 1,
    fault: { kind: 'reset', when: 'after_commit' },
  });
  try {
    await payments.transfers.create(input);
  } catch (error) {
    if (!isOutcomeUnknown(error)) throw error;
    print(`8. The connection broke: outcome ${error.outcome}, sent ${error.attempts.length} time`);
    const search = await payments.transfers.reconcile(input, { since });
    print(
      search.result === 'found'
        ? `9. Reconciled: ${search.transfer.id} exists, so it must not be sent again`
        : `9. Reconciled: ${search.result}`,
    );
  }

  if (process.argv.includes('--watch')) {
    print(`Watch it at ${server.rootUrl}/ until Ctrl+C.`);
    process.once('SIGINT', () => void server.close());
  } else {
    await server.close();
  }
}
