import { createContext, runInContext } from 'node:vm';
import { Agent } from 'node:https';
import {
  AbortError,
  ConfigurationError,
  ConnectionError,
  PaymentInDoubtError,
  PaymentsClient,
  PaymentVetoedError,
  paymentsErrorFrom,
  isPaymentsError,
  httpStatusOf,
  type ClientOptions,
  type PaymentsError,
} from 'payments-platform-sdk';
import { memoryJournal, testJournal } from 'payments-platform-sdk/journals';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';
import { expect, test } from 'vitest';
import { apiKey, clientOf, failureOf, respond } from '../support/clients.ts';
import { invoice as payment, newTransfer, page, transferCreated } from '../support/values.ts';

// In Jest, in the vm pools of Vitest and in node:vm, what Node throws is no instance of the program's Error, Date or AbortSignal.

const realm = createContext({});
const evaluate = (code: string): never => runInContext(`(${code})`, realm) as never;
type Create = (message: string, fields?: object) => Error;

/** Ways to make an error, each with what it makes. */
const kinds: Readonly<Record<string, Create>> = {
  'an error of another realm': evaluate(
    '(message, fields) => Object.assign(new Error(message), fields)',
  ),
  'a subclass of another realm': evaluate(
    '(message, fields) => Object.assign(new (class extends TypeError {})(message), fields)',
  ),
  'an error of another realm without a stack': evaluate(
    '(message, fields) => Object.assign(Object.create(Error.prototype), { message }, fields)',
  ),
  'an error of another realm with a Symbol.toStringTag': evaluate(
    "(message, fields) => Object.assign(new Error(message), { [Symbol.toStringTag]: 'Db' }, fields)",
  ),
  'a DOMException': (message, fields) =>
    Object.defineProperties(
      new DOMException(message),
      Object.getOwnPropertyDescriptors(fields ?? {}),
    ),
  'an error of this realm without a stack': (message, fields) =>
    Object.assign(Object.create(Error.prototype) as Error, { message }, fields),
};
const foreign = kinds['an error of another realm'] as Create;

const clientWith = (options: ClientOptions): PaymentsClient =>
  new PaymentsClient({ ...seedDemo(new Sandbox()).clientOptions, maxRetries: 0, ...options });

const fail = (thrown: unknown) => async (): Promise<never> => {
  await Promise.resolve();
  throw thrown as Error;
};

test.each(Object.entries(kinds))(
  'a ConnectionError keeps the error code of %s',
  async (_, create) => {
    const refused = create('connect ECONNREFUSED 127.0.0.1:9', { code: 'ECONNREFUSED' });
    const fetchFailed = create('fetch failed', { cause: refused });
    const { payments } = clientOf(fail(fetchFailed), {
      maxRetries: 0,
    });
    const error = await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
    expect(error).toMatchObject({
      code: 'ECONNREFUSED',
      cause: { message: 'fetch failed', cause: { message: refused.message, code: 'ECONNREFUSED' } },
      attempts: [{ reason: 'ECONNREFUSED' }],
    });
    expect(error.cause).toBeInstanceOf(Error);
    expect(error.message).toContain('Nothing listens there');
  },
);

test('error.cause lists every tried address of an AggregateError from another realm', async () => {
  const members = ['connect ECONNREFUSED ::1:9', 'connect ECONNREFUSED 127.0.0.1:9'].map(
    (message) => foreign(message, { code: 'ECONNREFUSED' }),
  );
  const all = foreign('', { errors: members });
  const { payments } = clientOf(fail(foreign('fetch failed', { cause: all })), { maxRetries: 0 });
  expect(await failureOf(payments.transfers.get('txfr_1'))).toMatchObject({
    code: 'ECONNREFUSED',
    cause: { cause: { errors: members.map(({ message }) => ({ message })) } },
  });
});

const certificate = { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' };

test.each(Object.entries(kinds))('a certificate error in %s is not retried', async (_, create) => {
  const { payments, requests } = clientOf(
    fail(create('fetch failed', { cause: create('self-signed certificate', certificate) })),
  );
  const error = await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
  expect(error).toMatchObject({ ...certificate, retryable: false });
  expect(error.message).toContain('fix the certificate');
  expect(requests).toHaveLength(1);
});

test.each(Object.entries(kinds))(
  'a call has outcome not_sent if its agent throws %s',
  async (_, create) => {
    let connections = 0;
    class FailingAgent extends Agent {
      override createConnection(): never {
        connections += 1;
        throw create('self-signed certificate', certificate);
      }
    }
    const agent = new FailingAgent();
    const baseUrl = 'https://api.example.com/v0';
    const payments = new PaymentsClient({ baseUrl, apiKey, agent });
    const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
    expect(error).toMatchObject({
      ...certificate,
      outcome: 'not_sent',
      retryable: false,
      cause: { message: 'self-signed certificate', ...certificate },
    });
    expect(connections).toBe(1);
  },
);

test.each(Object.entries(kinds))(
  'a ConfigurationError shows the message of %s',
  async (_, create) => {
    const thrown = create('ENOENT: no such file /run/secrets/key', { code: 'ENOENT' });
    const payments = clientWith({ apiKey: fail(thrown) });
    const error = await failureOf(payments.transfers.get('txfr_1'), ConfigurationError);
    expect(error.message).toContain('no such file /run/secrets/key');
    expect(error.cause).toMatchObject({ message: thrown.message, code: 'ENOENT' });
  },
);

test.each(Object.entries(kinds))(
  'a PaymentVetoedError shows the message of %s',
  async (_, create) => {
    const thrown = create('12.50 is above the limit');
    const payments = clientWith({ authorize: fail(thrown), journal: memoryJournal() });
    const error = await failureOf(payments.transfers.createOnce(payment), PaymentVetoedError);
    expect(error.message).toContain('12.50 is above the limit');
    expect(error.cause).toBe(thrown);
  },
);

test.each(Object.entries(kinds))(
  'a PaymentInDoubtError shows the message of %s',
  async (_, create) => {
    const journal = {
      ...memoryJournal(),
      read: fail(create('the disk is full', { code: 'ENOSPC' })),
    };
    const payments = clientWith({ journal });
    const error = await failureOf(payments.transfers.createOnce(payment), PaymentInDoubtError);
    expect(error).toMatchObject({ reason: 'journal', retryable: true, cause: { code: 'ENOSPC' } });
    expect(error.message).toContain('The cause: the disk is full');
  },
);

test('createOnce keeps retryable: false of a journal error from another realm', async () => {
  const journal = { ...memoryJournal(), read: fail(foreign('no table', { retryable: false })) };
  const error = await failureOf(clientWith({ journal }).transfers.createOnce(payment));
  expect(error).toMatchObject({ reason: 'journal', retryable: false });
});

test('testJournal shows the message of a journal error from another realm', async () => {
  const journal = { ...memoryJournal(), read: fail(foreign('the disk is full')) };
  await expect(testJournal(() => journal)).rejects.toThrow('the disk is full');
});

test.each(Object.entries(kinds))('createOnce pays if every hook throws %s', async (_, create) => {
  const throws = (): never => {
    throw create('no metrics');
  };
  const hooks = { onRequest: throws, onResponse: throws, onCall: throws, onOnce: throws };
  const payments = clientWith({ journal: memoryJournal(), hooks });
  expect(await payments.transfers.createOnce(payment)).toMatchObject({ status: 'pending' });
});

test('an AbortError says that a signal from another realm timed out', async () => {
  const reason = foreign('The operation was aborted due to timeout', { name: 'TimeoutError' });
  const signal = AbortSignal.abort(reason);
  const error = await failureOf(clientWith({}).transfers.get('txfr_1', { signal }), AbortError);
  expect(error.message).toContain('which timed out');
  expect(error.cause).toBe(reason);
  expect(error.toJSON()).toMatchObject({
    cause: { name: 'TimeoutError', message: reason.message },
  });
});

test('paymentsErrorFrom restores an error that a checkpoint copied in another realm', () => {
  const fields = { name: 'NotFoundError', outcome: 'rejected', cause: foreign('gone') };
  const restored = paymentsErrorFrom(foreign('Not here.', fields));
  expect(restored?.name).toBe('NotFoundError');
  expect(restored?.cause).toBe(fields.cause);
});

test('error.cause is undefined if fetch throws a plain object', async () => {
  const { payments } = clientOf(fail({ name: 'Error', message: 'secret', code: 'ECONNREFUSED' }));
  const error = await failureOf(payments.transfers.get('txfr_1'), ConnectionError);
  expect([error.code, error.cause]).toEqual([undefined, undefined]);
});

const foreignDate: Date = evaluate("new Date('2026-01-31T12:00:00Z')");

test('reconcile accepts and copies a Date of another realm', async () => {
  const since: Date = evaluate("new Date('2026-01-31T12:00:00Z')");
  const { payments, requests } = clientOf((request) =>
    request.method === 'GET' ? respond(200, page([])) : respond(201, transferCreated),
  );
  const search = payments.transfers.reconcile({ ...newTransfer, description: 'i1' }, { since });
  since.setTime(Number.NaN);
  expect(await search).toMatchObject({ result: 'not_found' });
  await payments.transfers.create(newTransfer, { body: { due: foreignDate } });
  expect(requests.at(-1)?.body).toContain('"due":"2026-01-31T12:00:00.000Z"');
  const invalid: Date = evaluate('new Date(NaN)');
  const error = await failureOf(payments.transfers.create(newTransfer, { body: { invalid } }));
  expect(error.message).toContain('an invalid date cannot be written as JSON');
});

/** An AbortSignal of a library or of a browser's simulation. */
class ForeignSignal extends EventTarget {
  aborted = false;
  reason: unknown;
  throwIfAborted(): void {
    if (this.aborted) throw this.reason as Error;
  }
  abort(reason: unknown): void {
    this.aborted = true;
    this.reason = reason;
    this.dispatchEvent(new Event('abort'));
  }
}

test('createAllOnce obeys a signal that is not an instance of AbortSignal', async () => {
  const signal = new ForeignSignal();
  const payments = clientWith({ journal: memoryJournal() });
  const options = { signal: signal as unknown as AbortSignal };
  expect((await payments.transfers.createAllOnce([payment], options)).counts.paid).toBe(1);
  const reason = foreign('stop');
  signal.abort(reason);
  const error = await failureOf(payments.transfers.createAllOnce([payment], options), AbortError);
  expect(error.cause).toBe(reason);
});

const everyTrap = new Proxy(
  {},
  {
    get: () => () => {
      throw foreign('trapped');
    },
  },
);
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
const unreadable: Readonly<Record<string, () => unknown>> = {
  'a revoked Proxy': revoked,
  'a Proxy with traps that throw': () => new Proxy(new Error('x'), everyTrap),
  'an error with fields that throw': () =>
    Object.defineProperties(
      new Error('x'),
      Object.fromEntries(
        ['name', 'message', 'stack', 'code', 'cause', 'errors', 'retryable'].map((name) => [
          name,
          {
            enumerable: true,
            get: () => {
              throw foreign('trapped');
            },
          },
        ]),
      ),
    ),
};

/** Calls that fail with a value that was thrown. */
const failures: Readonly<Record<string, (thrown: unknown) => Promise<PaymentsError>>> = {
  fetch: (thrown) => failureOf(clientOf(fail(thrown)).payments.transfers.create(newTransfer)),
  apiKey: (thrown) => failureOf(clientWith({ apiKey: fail(thrown) }).transfers.get('txfr_1')),
  authorize: (thrown) =>
    failureOf(clientWith({ authorize: fail(thrown) }).transfers.create(newTransfer)),
  journal: (thrown) => {
    const payments = clientWith({ journal: { ...memoryJournal(), read: fail(thrown) } });
    return failureOf(payments.transfers.createOnce(payment));
  },
  signal: (thrown) =>
    failureOf(clientWith({}).transfers.get('txfr_1', { signal: AbortSignal.abort(thrown) })),
};

test.each(Object.entries(unreadable))(
  'error.outcome is right even if %s is thrown',
  async (_, create) => {
    const outcomes: Record<string, string> = {};
    for (const [source, failWith] of Object.entries(failures)) {
      const error = await failWith(create());
      outcomes[source] = error.outcome;
      expect(JSON.parse(JSON.stringify(error))).toMatchObject({ name: error.name });
    }
    expect(outcomes).toEqual({
      fetch: 'unknown',
      apiKey: 'not_sent',
      authorize: 'not_sent',
      journal: 'unknown',
      signal: 'not_sent',
    });
    expect([isPaymentsError(create()), httpStatusOf(create())]).toEqual([false, 500]);
  },
);
