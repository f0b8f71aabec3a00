// A Cloudflare Worker that shows what an account holds. The key is a secret of the Worker; a Worker
// has no process.env to read it from, so it is handed over. Each request has a client of its own: a Worker
// may not wait in one request for what another has begun, and a client that is shared would.
import { isAccountId, NotFoundError, PaymentsClient } from 'payments-platform-sdk';

interface Env {
  readonly PAYMENTS_BASE_URL: string;
  readonly PAYMENTS_API_KEY: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const id = new URL(request.url).pathname.slice(1);
    if (!isAccountId(id)) return Response.json({ error: 'no account id' }, { status: 400 });
    const payments = new PaymentsClient({
      baseUrl: env.PAYMENTS_BASE_URL,
      apiKey: env.PAYMENTS_API_KEY,
    });
    try {
      // The caller's signal ends the call when the caller leaves.
      const account = await payments.accounts.get(id, { signal: request.signal });
      return Response.json({ id, available: account.availableBalance });
    } catch (error) {
      if (error instanceof NotFoundError) return Response.json({ error: 'none' }, { status: 404 });
      throw error;
    }
  },
};
