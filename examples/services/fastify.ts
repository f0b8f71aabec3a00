// A service that accepts payouts and reports their results over HTTP. A caller may repeat a request: the
// payment is made once. Run unchanged, it pays on a sandbox and prints its responses.
import Fastify, { type FastifyInstance } from 'fastify';
import {
  httpStatusOf,
  isPaymentsError,
  PaymentsClient,
  type OnceInput,
} from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';

export function buildService(payments: PaymentsClient): FastifyInstance {
  const service = Fastify();

  service.post<{ Body: OnceInput }>('/payouts', async (request, reply) => {
    const { id, status } = await payments.transfers.createOnce(request.body);
    return reply.code(201).send({ id, status });
  });

  service.setErrorHandler(async (error, request, reply) => {
    if (!isPaymentsError(error)) throw error;
    if (error.retryAfterMs !== undefined) {
      reply.header('retry-after', Math.ceil(error.retryAfterMs / 1000));
    }
    // toJSON holds no credential, so the whole error may go into the log.
    request.log.error({ payment: error });
    const { name, outcome, publicMessage: message } = error;
    return reply.code(httpStatusOf(error)).send({ error: name, outcome, message });
  });

  return service;
}

if (import.meta.main) {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const source = sandbox.accounts.create({ entityId });
  const destination = sandbox.accounts.create({ entityId });
  sandbox.accounts.fund(source.id, '100.00');
  // For the demonstration; a deployed service needs a journal that survives its deploys.
  const options = { ...sandbox.clientOptions, journal: memoryJournal(), maxRetries: 0 };
  const service = buildService(new PaymentsClient(options));
  let payout = 0;
  const pay = async (amount: unknown) => {
    const description = `payout ${(payout += 1)}`;
    const response = await service.inject({
      method: 'POST',
      url: '/payouts',
      payload: {
        sourceAccountId: source.id,
        destinationAccountId: destination.id,
        amount,
        description,
      },
    });
    console.log(response.statusCode, response.body);
  };

  await pay('40.00');
  await pay(40);
  await pay('1000.00');
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'status', status: 429, retryAfter: 7 },
  });
  await pay('1.00');
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'before_commit' },
  });
  await pay('2.00');
  await service.close();
}
