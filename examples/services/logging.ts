// What goes into a log: a line for every request and every wait, and one for a call that failed. Run
// as it is, it pays on a sandbox and prints what it logs.
import { pino, type Logger } from 'pino';
import { isPaymentsError, PaymentsClient, type Hooks } from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';

/** Hooks that log. Events hold no credential and no body, so they may be logged as they are. */
export function loggingHooks(logger: Logger): Hooks {
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
    // The platform answers in another shape than its document says: somebody should read both.
    onDrift: (event) => {
      logger.error({ payments: event }, 'drift');
    },
  };
}

/** For pino's option `serializers`: toJSON() has every attempt, and nothing secret. */
export const serializers = {
  err: (error: Error): object =>
    isPaymentsError(error) ? error.toJSON() : pino.stdSerializers.err(error),
};

if (import.meta.main) {
  const logger = pino({ level: 'debug', serializers });
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  const from = sandbox.accounts.create({ entityId }).id;
  const to = sandbox.accounts.create({ entityId }).id;
  sandbox.accounts.fund(from, '100.00');
  const hooks = loggingHooks(logger);
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
