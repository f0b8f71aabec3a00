// The main job from beginning to end, over real HTTP. Without PAYMENTS_BASE_URL it starts a sandbox
// of its own on a loopback port; with it, it reads from that platform and changes nothing.
// `npm start -- --watch` leaves that sandbox up, with its page, until Ctrl+C.
import {
  isOutcomeUnknown,
  NotFoundError,
  PaymentsClient,
  UnprocessableEntityError,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { listen } from 'payments-platform-sdk/sandbox/server';

const say = (text: string) => console.log(text);

if (process.env['PAYMENTS_BASE_URL'] === undefined) await tell();
else await look();

/** Reads one page of each list. */
async function look() {
  const payments = new PaymentsClient();
  const accounts = await payments.accounts.list({ limit: 5 });
  const transfers = await payments.transfers.list({ limit: 5 });
  say(`Reading from ${payments.toJSON().baseUrl}`);
  for (const { id, name, availableBalance, currency } of accounts.data) {
    say(`  ${id}  ${name}  ${availableBalance} ${currency}`);
  }
  for (const { id, status, amount, currency } of transfers.data) {
    say(`  ${id}  ${status}  ${amount} ${currency}`);
  }
}

/** The whole story, against a sandbox. */
async function tell() {
  const sandbox = new Sandbox();
  const server = await listen(sandbox, { port: 0 });
  const payments = new PaymentsClient(server.clientOptions);
  say(`1. A sandbox platform listens on ${server.baseUrl}`);

  const entity = await payments.entities.create({
    email: 'treasury@example.com',
    businessName: 'Example Trading',
  });
  const operating = await payments.accounts.create({ entityId: entity.id, name: 'Operating' });
  const payroll = await payments.accounts.create({ entityId: entity.id, name: 'Payroll' });
  sandbox.accounts.fund(operating.id, '1000.00');
  say(
    `2. ${entity.id} (${entity.type}) holds ${operating.id} with 1000.00 USDC, and ${payroll.id}`,
  );

  const paid = await payments.transfers.create({
    sourceAccountId: operating.id,
    destinationAccountId: payroll.id,
    amount: '125.50',
    description: 'salaries, November',
  });
  say(`3. ${paid.id} was accepted and is ${paid.status}`);

  // On a real platform time does this; here it is told to, while the client polls.
  await payments.transfers.waitFor(paid.id, {
    interval: 50,
    onPoll: ({ status }) => {
      say(`   it is ${status}`);
      if (status !== 'completed') sandbox.transfers.advance(paid.id);
    },
  });
  const [from, to] = await Promise.all([
    payments.accounts.get(operating.id),
    payments.accounts.get(payroll.id),
  ]);
  say(
    `4. It is completed: ${from.name} has ${from.availableBalance}, ${to.name} ${to.availableBalance}`,
  );

  for (let count = 1; count < 250; count += 1) {
    sandbox.transfers.create({
      sourceAccountId: operating.id,
      destinationAccountId: payroll.id,
      amount: '0.10',
    });
  }
  let seen = 0;
  for await (const transfer of payments.transfers.list({ limit: 100 })) {
    if (transfer.sourceAccountId === operating.id) seen += 1;
  }
  say(`5. Paged through ${seen} transfers in pages of 100`);

  try {
    await payments.transfers.get('txfr_nowhere');
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    say(`6. NotFoundError ${error.status} ${error.code}, request ${error.requestId}`);
  }

  try {
    await payments.transfers.create({
      sourceAccountId: payroll.id,
      destinationAccountId: operating.id,
      amount: '1000000.00',
    });
  } catch (error) {
    if (!(error instanceof UnprocessableEntityError)) throw error;
    say(`7. Rejected: ${error.code}; outcome ${error.outcome}, so no money moved`);
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
    say(`8. The connection broke: outcome ${error.outcome}, sent ${error.attempts.length} time`);
    const response = await payments.transfers.reconcile(input, { since });
    say(
      response.result === 'found'
        ? `9. Reconciled: ${response.transfer.id} exists, so it must not be sent again`
        : `9. Reconciled: ${response.result}`,
    );
  }

  if (process.argv.includes('--watch')) {
    say(`Watch it at ${server.rootUrl}/ until Ctrl+C.`);
    process.once('SIGINT', () => void server.close());
  } else {
    await server.close();
  }
}
