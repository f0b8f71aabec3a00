// A service that hears of its payments by webhook. The API reference shows no payload and no signature, so
// a notification is a hint only: it may be lost, come twice, late, in the wrong order, or from anyone. The
// service takes the id from it and reads the transfer itself. Run unchanged, it pays on a sandbox.
import Fastify, { type FastifyInstance } from 'fastify';
import {
  isPaymentsError,
  NotFoundError,
  PaymentsClient,
  type Transfer,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

export interface WebhookService {
  readonly service: FastifyInstance;
  /** Waits for the end of a transfer: call it for each payment that was made, also after a restart. */
  follow(id: string): Promise<void>;
}

const isFinal = ({ status }: Transfer): boolean =>
  ['completed', 'failed', 'cancelled'].includes(status);

/** `sendReceipt` is called once for each end of a transfer: one that completed may be returned later. */
export function buildWebhookService(
  payments: PaymentsClient,
  sendReceipt: (transfer: Transfer) => void,
  pollMs = 10_000,
): WebhookService {
  // In production this is a table with id and status as its primary key, so that it survives a restart.
  const receipts = new Map<string, string>();
  /** The waits that are in progress; a notification ends one at once. */
  const waits = new Map<string, AbortController>();

  const finish = (transfer: Transfer) => {
    if (receipts.get(transfer.id) === transfer.status) return;
    receipts.set(transfer.id, transfer.status);
    sendReceipt(transfer);
  };

  const follow = async (id: string) => {
    if (receipts.has(id) || waits.has(id)) return;
    const wake = new AbortController();
    waits.set(id, wake);
    try {
      // The poll is slow: it is for notifications that are lost.
      const { signal } = wake;
      const options = { until: isFinal, interval: pollMs, timeout: 86_400_000, signal };
      finish(await payments.transfers.waitFor(id, options));
    } catch (error) {
      if (!wake.signal.aborted) service.log.error({ payment: error });
    } finally {
      waits.delete(id);
    }
  };

  // Anyone may call it: a notification is short, and names few transfers.
  const service = Fastify({ forceCloseConnections: true, bodyLimit: 65_536 });
  // Any format will do: an id is found in JSON, in a form and in XML.
  service.removeAllContentTypeParsers();
  service.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => {
    done(null, body);
  });

  service.post<{ Body: string | undefined }>('/webhooks', async (request, reply) => {
    const ids = new Set(request.body?.match(/\btxfr_\w+/g));
    for (const id of [...ids].slice(0, 10)) {
      const transfer = await payments.transfers.get(id);
      if (isFinal(transfer)) {
        finish(transfer);
        waits.get(id)?.abort();
      } else {
        void follow(id);
      }
    }
    return reply.code(204).send();
  });

  service.setErrorHandler(async (error, request, reply) => {
    if (!isPaymentsError(error)) throw error;
    // An id that no transfer has is not read again. After any other status the platform may notify again.
    request.log.error({ payment: error });
    return reply.code(error instanceof NotFoundError ? 204 : 503).send();
  });

  return { service, follow };
}

if (import.meta.main) {
  const sandbox = new Sandbox({ autoAdvance: 50 });
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const [source, destination] = [0, 1].map(() => sandbox.accounts.create({ entityId }));
  if (source === undefined || destination === undefined) throw new Error('accounts');
  sandbox.accounts.fund(source.id, '100.00');

  const payments = new PaymentsClient(sandbox.clientOptions);
  const sendReceipt = ({ id, status }: Transfer) => {
    console.log(`receipt: ${id} ${status}`);
  };
  const { service, follow } = buildWebhookService(payments, sendReceipt, 500);
  const address = await service.listen({ host: '127.0.0.1', port: 0 });
  sandbox.settings.update({ webhookUrl: `${address}/webhooks` });

  const parties = { sourceAccountId: source.id, destinationAccountId: destination.id };
  for (const [amount, kind] of [
    ['40.00', 'duplicate'],
    ['2.00', 'drop'],
  ] as const) {
    sandbox.faults.clear();
    sandbox.faults.add({ operation: 'webhook', times: 'always', fault: { kind } });
    const { id } = await payments.transfers.create({ ...parties, amount });
    await follow(id);
  }
  const lost = sandbox.log.filter(({ fault }) => fault === 'drop');
  console.log(`lost notifications: ${lost.length}`);
  await service.close();
}
