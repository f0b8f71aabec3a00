import { deepStrictEqual } from 'node:assert';
import { PaymentsClient } from 'payments-platform-sdk';

/*
 * A process that uses its own isolated sandbox ("world") of a server. The process creates records,
 * and fails if it sees records of another world.
 * node test/drivers/world-user.ts <rootUrl> <name> <count>
 */

const [rootUrl = '', name = '', count = '10'] = process.argv.slice(2);
const payments = new PaymentsClient({
  baseUrl: `${rootUrl}/v0`,
  apiKey: `sk_sandbox_${name}`,
  jwt: `jwt_sandbox_${name}`,
});
const emails: string[] = [];
for (let number = 0; number < Number(count); number += 1) {
  const email = `${name}-${number}@example.com`;
  emails.push(email);
  const entity = await payments.entities.create({ email });
  const account = await payments.accounts.create({ entityId: entity.id, name });
  const response = await fetch(`${rootUrl}/_sandbox/worlds/${name}/accounts/${account.id}/fund`, {
    method: 'POST',
    body: JSON.stringify({ amount: '1.00' }),
  });
  deepStrictEqual(response.status, 200);
}
const max = Number(count) + 100;
const entities = await payments.entities.list().toArray({ max });
deepStrictEqual(
  entities.slice(-Number(count)).map(({ email }) => email),
  emails,
);
const accounts = (await payments.accounts.list().toArray({ max })).slice(-Number(count));
deepStrictEqual(new Set(accounts.map((account) => account.name)), new Set([name]));
deepStrictEqual(
  new Set(accounts.map(({ availableBalance }) => availableBalance)),
  new Set(['1.00']),
);
const log = (await (await fetch(`${rootUrl}/_sandbox/worlds/${name}/log`)).json()) as unknown[];
// Each of the two lists fits into a page, and so takes one request.
deepStrictEqual(log.length >= 2 * Number(count) + 2, true);
console.log(`${name} saw ${entities.length} entities`);
