// Virtual time, which only the test advances: a 429 asks for 45 seconds, and the test takes none.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox, VirtualClock } from 'payments-platform-sdk/sandbox';

const clock = new VirtualClock();
const sandbox = new Sandbox({ clock });
const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });

sandbox.faults.add({
  operation: 'accounts.list',
  fault: { kind: 'status', status: 429, retryAfter: 45 },
});
const page = payments.accounts.list().then(({ data }) => data.length);
await clock.advance(60_000);
console.log(`${await page} accounts, after ${sandbox.log.length} requests`);
