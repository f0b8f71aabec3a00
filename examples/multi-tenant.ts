// One client for each tenant. They share what is worth sharing and nothing that is secret: one
// tenant's credential, headers and rate limit never touch another's calls.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const keys = { harbour: 'sk_harbour_0001', orchard: 'sk_orchard_0001' };
type Tenant = keyof typeof keys;

// Each tenant has a platform of its own here; one platform with two keys looks the same from outside.
const platforms = {
  harbour: new Sandbox({ apiKey: keys.harbour }),
  orchard: new Sandbox({ apiKey: keys.orchard }),
};

const base = new PaymentsClient({
  baseUrl: 'https://api.example.com/v0',
  apiKey: 'sk_nobody',
  timeout: 5_000,
});
const clients = new Map<Tenant, PaymentsClient>();

/** The client of a tenant: made once, because it remembers its token and its rate limit. */
function clientOf(tenant: Tenant): PaymentsClient {
  const known = clients.get(tenant);
  if (known !== undefined) return known;
  const made = base.withOptions({
    apiKey: () => keys[tenant],
    jwt: null, // or the tenant's own: what is left out stays that of the base client
    headers: { 'x-tenant': tenant },
    fetch: platforms[tenant].fetch,
  });
  clients.set(tenant, made);
  return made;
}

for (const tenant of ['harbour', 'orchard'] as const) {
  await clientOf(tenant).entities.create({ email: `treasury@${tenant}.example` });
}
for (const tenant of ['harbour', 'orchard'] as const) {
  const { data } = await clientOf(tenant).entities.list();
  console.log(tenant, 'sees', data.map(({ email }) => email).join(', '));
}
