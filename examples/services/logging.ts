// A log with a line for every request, every wait and every failed call. Run unchanged, it pays on a
// sandbox and prints the log.
import { pino, type Logger } from 'pino';
import { paymentsErrorFrom, PaymentsClient, type Hooks } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

/** Creates hooks that log. Events contain no credential and no body, so they can be logged unchanged. */
export function createLoggingHooks(logger: Logger): Hooks {
  return {
    onRequest: (event) => {
      logger.debug({ payments: event }, 'request');
    },
    onResponse: (event) => {
      const level = event.outcome === 'ok' ? 'info' : 'warn';
      logger[level]({ payments: event }, 'response');
    },
    onRetry: (event) => {
      logger.warn({ payments: event }, 'sent again');
    },
    // The response has an undocumented shape: compare it with the API reference.
    onDrift: (event) => {
      logger.error({ payments: event }, 'drift');
    },
  };
}

/** Serialisers for pino: toJSON() has every attempt, and nothing secret. */
export const serializers = {
  err: (error: Error): object =>
    paymentsErrorFrom(error)?.toJSON() ?? pino.stdSerializers.err(error),
};

if (import.meta.main) {
  const logger = pino({ level: 'debug', serializers });
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId }).id;
  const to = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(from, '100.00');
  const hooks = createLoggingHooks(logger);
  const payments = new PaymentsClient({ ...sandbox.clientOptions, hooks });

  sandbox.faults.add({ operation: 'accounts.get', fault: { kind: 'status', status: 503 } });
  await payments.accounts.get(from);
  sandbox.faults.add({
    operation: 'transfers.create',
    fault: { kind: 'reset', when: 'after_commit' },
  });
  const input = { sourceAccountId: from, destinationAccountId: to, amount: '10.00' };
  await payments.transfers.create(input).catch((err: unknown) => {
    logger.error({ err }, 'the payment is in doubt');
  });
}
