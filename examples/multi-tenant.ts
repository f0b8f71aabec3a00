// One client for each tenant. The clients share the retry budget and nothing secret: the credential,
// the headers and the rate limit of a tenant never affect the calls of another.
import { PaymentsClient } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

const keys = { harbour: 'sk_harbour_0001', orchard: 'sk_orchard_0001' };
type Tenant = keyof typeof keys;

// Each tenant has its own platform here. One platform with two keys behaves the same.
const platforms = {
  harbour: new Sandbox({ apiKey: keys.harbour }),
  orchard: new Sandbox({ apiKey: keys.orchard }),
};

const base = new PaymentsClient({
  baseUrl: platforms.harbour.clientOptions.baseUrl, // in production that of your platform
  apiKey: 'sk_nobody',
  timeout: 5_000,
});
const clients = new Map<Tenant, PaymentsClient>();

/** Returns the client of a tenant, created once because it caches its token and its rate limit. */
function getClient(tenant: Tenant): PaymentsClient {
  const existing = clients.get(tenant);
  if (existing !== undefined) return existing;
  const client = base.withOptions({
    apiKey: () => keys[tenant],
    jwt: null, // or the JWT of the tenant; an omitted option stays that of the base client
    headers: { 'x-tenant': tenant },
    fetch: platforms[tenant].fetch,
  });
  clients.set(tenant, client);
  return client;
}

for (const tenant of ['harbour', 'orchard'] as const) {
  await getClient(tenant).entities.create({ email: `treasury@${tenant}.example` });
}
for (const tenant of ['harbour', 'orchard'] as const) {
  const { data } = await getClient(tenant).entities.list();
  console.log(tenant, 'sees', data.map(({ email }) => email).join(', '));
}
