// Provokes one error of each class, and prints what a program can rely on.
import { PaymentsClient, PaymentsError, type AccountId } from 'payments-platform-sdk';
import { Sandbox, type SandboxFault } from 'payments-platform-sdk/sandbox';

const sandbox = new Sandbox();
const payments = new PaymentsClient({ ...sandbox.clientOptions, maxRetries: 0, timeout: 200 });
const entity = sandbox.entities.create({ email: 'ada@example.com' });
const { id } = sandbox.accounts.create({ entityId: entity.id });

/** Reads an Account while the platform has a fault. */
const during = (fault: SandboxFault) => () => {
  sandbox.faults.add({ operation: 'accounts.get', fault });
  return payments.accounts.get(id);
};
const status = (code: number) => during({ kind: 'status', status: code });

const attempts: Record<string, () => PromiseLike<unknown> | PaymentsClient> = {
  'an option is missing': () => new PaymentsClient({ baseUrl: 'https://api.example.com/v0' }),
  'an id of another kind': () => payments.accounts.get('txfr_1' as AccountId),
  'status 400': status(400),
  'status 401': status(401),
  'status 403': status(403),
  'nothing there': () => payments.accounts.get('acc_nowhere'),
  'status 409': status(409),
  'status 418': status(418),
  'status 422': status(422),
  'status 503': status(503),
  'a connection that breaks': during({ kind: 'reset', when: 'before_commit' }),
  'no answer': during({ kind: 'hang' }),
  'half an answer': during({ kind: 'truncated_body' }),
  'a page in HTML': during({ kind: 'html', status: 200 }),
  'the caller gives up': () => payments.accounts.get(id, { signal: AbortSignal.abort() }),
  'a list in a circle': () => {
    for (let count = 0; count < 3; count += 1) sandbox.accounts.create({ entityId: entity.id });
    sandbox.faults.add({ operation: 'accounts.list', fault: { kind: 'repeated_cursor' } });
    return payments.accounts.list({ limit: 1 }).toArray({ max: 10 });
  },
  // A 429 holds the client's next calls back for a moment, so it comes last.
  'status 429': during({ kind: 'status', status: 429, retryAfter: 1 }),
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
