// Causes one error of each class, and prints the fields that a program can rely on.
import { PaymentsClient, PaymentsError } from 'payments-platform-sdk';
import { Sandbox, type SandboxFault } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0, timeout: 200 });
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const { id } = sandbox.accounts.create({ entityId: entity.id });

/** Returns a function that reads an Account while the platform has a fault. */
const readDuring = (fault: SandboxFault) => () => {
  sandbox.faults.add({ operation: 'accounts.get', fault });
  return payments.accounts.get(id);
};
const readWithStatus = (code: number) => readDuring({ kind: 'status', status: code });

const attempts: Record<string, () => PromiseLike<unknown> | PaymentsClient> = {
  'an option is missing': () => new PaymentsClient({ baseUrl: 'https://api.example.com/v0' }),
  'an id of another kind': () => payments.accounts.get('txfr_1'),
  'status 400': readWithStatus(400),
  'status 401': readWithStatus(401),
  'status 403': readWithStatus(403),
  'nothing there': () => payments.accounts.get('acc_nowhere'),
  'status 409': readWithStatus(409),
  'status 418': readWithStatus(418),
  'status 422': readWithStatus(422),
  'status 503': readWithStatus(503),
  'a connection that breaks': readDuring({ kind: 'reset', when: 'before_commit' }),
  'no response': readDuring({ kind: 'hang' }),
  'half a response': readDuring({ kind: 'truncated_body' }),
  'a page in HTML': readDuring({ kind: 'html', status: 200 }),
  'the caller aborts': () => payments.accounts.get(id, { signal: AbortSignal.abort() }),
  'a cursor loop': () => {
    for (let count = 0; count < 3; count += 1) sandbox.accounts.create({ entityId: entity.id });
    sandbox.faults.add({ operation: 'accounts.list', fault: { kind: 'repeated_cursor' } });
    return payments.accounts.list({ limit: 1 }).toArray({ max: 10 });
  },
  // A 429 holds back the client's next calls for a moment, so it comes last.
  'status 429': readDuring({ kind: 'status', status: 429, retryAfter: 1 }),
};

for (const [title, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    console.log(title, 'went well');
  } catch (error) {
    if (!(error instanceof PaymentsError)) throw error;
    const again = error.retryable ? 'worth sending again' : 'not worth sending again';
    console.log(`${title}: ${error.name}, outcome ${error.outcome}, ${again}`);
  }
}
