// A Cloudflare Worker that returns the balance of an account. The key is a secret of the Worker, which has
// no process.env, so the key is passed as an option. Each request has its own client: a Worker must not
// await in one request a promise of another, and a shared client would.
import { NotFoundError, PaymentsClient, ValidationError } from 'payments-platform-sdk';

interface Env {
  readonly PAYMENTS_BASE_URL: string;
  readonly PAYMENTS_API_KEY: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const id = new URL(request.url).pathname.slice(1);
    const payments = new PaymentsClient({
      baseUrl: env.PAYMENTS_BASE_URL,
      apiKey: env.PAYMENTS_API_KEY,
    });
    try {
      // The caller's signal ends the call when the caller aborts.
      const account = await payments.accounts.get(id, { signal: request.signal });
      return Response.json({ id, available: account.availableBalance });
    } catch (error) {
      // The client sends nothing for an id that is no id of an Account.
      if (error instanceof ValidationError) {
        return Response.json({ error: 'no account id' }, { status: 400 });
      }
      if (error instanceof NotFoundError) return Response.json({ error: 'none' }, { status: 404 });
      throw error;
    }
  },
};
