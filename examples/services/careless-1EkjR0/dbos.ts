// DBOS: a workflow for each payout, with its number as the id. A step that was interrupted runs again; createOnce
// pays once. An error that a step has thrown is a plain Error when the workflow is replayed.
import { DBOS } from '@dbos-inc/dbos-sdk';
import { paymentsErrorFrom, type OnceInput } from 'payments-platform-sdk';
import { databaseUrl, drainMs, payments, payouts, stopped, stopping } from './client.ts';

async function pay(input: OnceInput): Promise<string> {
  for (;;) {
    // The next process continues the workflow.
    if (stopping.aborted) await new Promise(() => undefined);
    try {
      const step = async (): Promise<string> => (await payments.transfers.createOnce(input)).id;
      return await DBOS.runStep(step, { name: 'createOnce' });
    } catch (thrown) {
      const error = paymentsErrorFrom(thrown);
      // Rejected, or for an operator: the workflow ends with the error.
      if (error?.retryable !== true) throw thrown;
      await DBOS.sleep(error.retryAfterMs ?? 1_000);
    }
  }
}
const payWorkflow = DBOS.registerWorkflow(pay, { name: 'pay' });
DBOS.setConfig({ name: 'payouts', systemDatabaseUrl: databaseUrl, logLevel: 'error' });
// Continues the workflows of an earlier process of this executor.
await DBOS.launch();
for (const { number, input } of payouts)
  await DBOS.startWorkflow(payWorkflow, { workflowID: number })(input);
await stopped;
await DBOS.shutdown({ workflowCompletionTimeoutMS: drainMs });
process.exit();
