import {
  AbortError,
  ApiError,
  AuthenticationError,
  ConfigurationError,
  NotFoundError,
  PaymentsClient,
  ServerError,
  ValidationError,
  WaitError,
  type ClientOptions,
  type Transfer,
  type WaitOptions,
} from 'payments-platform-sdk';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { failureOf, clientOf } from '../support/clients.ts';
import { transfer } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';
import { statusMeanings } from '../../src/schemas/transfer.ts';

// Without jitter, each pause has its mean length.
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});

const id = 'txfr_000001';

/** A platform with one pending transfer of this id. */
function setup() {
  const clock = new VirtualClock();
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  sandbox.entities.approve(entityId);
  const [source, destination] = [
    sandbox.accounts.create({ entityId, name: 'Source' }),
    sandbox.accounts.create({ entityId, name: 'Destination' }),
  ];
  sandbox.accounts.fund(source.id, '100');
  sandbox.transfers.create({
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '1.00',
  });
  const payments = new PaymentsClient({ ...sandbox.clientOptions, clock });
  return { clock, sandbox, payments };
}

/** A platform that returns these responses in turn, and then repeats the last response. */
function scripted(responses: readonly (string | number)[], options: ClientOptions = {}) {
  const clock = new VirtualClock();
  const times: number[] = [];
  let at = 0;
  const { payments, requests } = clientOf(
    () => {
      times.push(clock.passed);
      const response = responses[Math.min(at, responses.length - 1)];
      at += 1;
      return typeof response === 'number'
        ? Response.json({ error: 'No', code: 'no' }, { status: response })
        : Response.json({ ...transfer, status: response });
    },
    { clock, maxRetries: 0, ...options },
  );
  const wait = (waitOptions?: WaitOptions): Promise<Transfer> =>
    clock.runTimersDuring(payments.transfers.waitFor('txfr_1', waitOptions));
  return { clock, payments, requests, times, wait };
}

test('waitFor polls until the transfer is completed', async () => {
  const { clock, sandbox, payments } = setup();
  const seen: string[] = [];
  const done = await clock.runTimersDuring(
    payments.transfers.waitFor(id, {
      onPoll: ({ status }) => {
        seen.push(status);
        if (status !== 'completed') sandbox.transfers.advance(id);
      },
    }),
  );
  expect(done).toMatchObject({ id, status: 'completed', amount: '1.00' });
  expect(seen).toEqual(['pending', 'processing', 'completed']);
  expect(sandbox.log.map(({ method, path }) => `${method} ${path}`)).toEqual(
    Array.from({ length: 3 }, () => `GET /v0/transfers/${id}`),
  );
  expect(clock.pending).toBe(0);
});

test('waitFor sends one request for a completed transfer', async () => {
  const { clock, wait, requests } = scripted(['completed']);
  expect(await wait()).toMatchObject({ status: 'completed' });
  expect([requests.length, clock.passed, clock.pending]).toEqual([1, 0, 0]);
});

test.each(['failed', 'cancelled'] as const)(
  'waitFor rejects with a WaitError if the transfer is %s',
  async (end) => {
    const { clock, sandbox, payments } = setup();
    const waiting = payments.transfers.waitFor(id, {
      onPoll: ({ status }) => {
        if (status !== 'pending') return;
        if (end === 'failed') sandbox.transfers.fail(id);
        else sandbox.transfers.cancel(id);
      },
    });
    const error = await failureOf(clock.runTimersDuring(waiting), WaitError);
    expect(error).toMatchObject({
      reason: 'failed',
      last: { id, status: end },
      outcome: 'rejected',
      retryable: false,
      operation: 'transfers.waitFor',
      path: '/transfers/{id}',
    });
    expect(error.message).toContain(`ended as ${end}`);
  },
);

test.each([
  [{ timeout: 5_000 }, 5_000],
  [{ totalTimeout: 4_000 }, 4_000],
  [{ timeout: 9_000, totalTimeout: 3_000 }, 3_000],
  [{ timeout: 2_000, totalTimeout: 3_000 }, 2_000],
  [{}, 600_000],
])('waitFor with %o rejects as unknown if still pending after %i ms', async (options, ms) => {
  const { clock, wait } = scripted(['pending']);
  const error = await failureOf(wait(options), WaitError);
  expect(error).toMatchObject({
    reason: 'timeout',
    last: { id: 'txfr_1', status: 'pending' },
    outcome: 'unknown',
    retryable: true,
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(error.message).toContain('does not mean that it failed');
  expect(clock.passed).toBe(ms);
  expect(clock.pending).toBe(0);
});

test('waitFor rejects at its `timeout` even if a request hangs', async () => {
  const { clock, sandbox, payments } = setup();
  sandbox.faults.add({ operation: 'transfers.get', fault: { kind: 'hang' } });
  const error = await failureOf(
    clock.runTimersDuring(payments.transfers.waitFor(id, { timeout: 700 })),
    WaitError,
  );
  expect(error).toMatchObject({ reason: 'timeout', last: undefined });
  expect(clock.passed).toBe(700);
});

test('the pauses of waitFor grow to fifteen seconds', async () => {
  const { wait, times } = scripted(['pending']);
  await failureOf(wait({ timeout: 100_000 }), WaitError);
  const pauses = times.slice(1).map((time, index) => time - (times[index] ?? 0));
  expect(pauses.slice(0, 4)).toEqual([1_000, 1_500, 2_250, 3_375]);
  expect(Math.max(...pauses)).toBe(15_000);
  expect(pauses.toSorted((a, b) => a - b)).toEqual(pauses);
});

test('`interval` of waitFor is the first pause, with jitter', async () => {
  vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValue(0.999_999);
  const { wait, times } = scripted(['pending', 'pending', 'completed']);
  await wait({ interval: 100 });
  expect(times).toEqual([0, 80, 80 + 180]);
});

test('waitFor continues after a response with an undocumented status', async () => {
  const { wait } = scripted(['pending', 'on_hold', 'processing', 'under_audit', 'completed']);
  const seen: string[] = [];
  await wait({ onPoll: ({ status }) => seen.push(status) });
  expect(seen).toEqual(['pending', 'on_hold', 'processing', 'under_audit', 'completed']);
});

test.each([
  [['completed', 'processing'], 'processing'],
  [['completed', 'pending'], 'pending'],
  [['completed', 'on_hold', 'under_audit', 'pending'], 'pending'],
])('waitFor rejects if a transfer that ended is open again (%o)', async (statuses, last) => {
  const { wait, requests } = scripted(statuses);
  // Without `until`, the first `completed` would end the wait.
  const error = await failureOf(wait({ until: () => false }), WaitError);
  expect(error).toMatchObject({
    reason: 'regressed',
    last: { status: last },
    outcome: 'unknown',
  });
  expect(error.message).toContain(`from ${statuses[0]} to ${last}`);
  expect(requests).toHaveLength(statuses.indexOf(last) + 1);
});

test.each([
  [['processing', 'pending', 'completed']],
  [['processing', 'on_hold', 'pending', 'completed']],
])('waitFor continues while a transfer is open (%o)', async (statuses) => {
  const { wait } = scripted(statuses);
  expect(await wait()).toMatchObject({ status: 'completed' });
});

describe('a transfer that is returned after it was completed', () => {
  // No documented status means this yet. All decisions read the table, so one more row is enough.
  beforeEach(() => {
    Object.assign(statusMeanings, { returned: 'failed' });
    return () => Reflect.deleteProperty(statusMeanings, 'returned');
  });

  test('ends a waitFor whose `until` accepts it', async () => {
    const { wait } = scripted(['pending', 'completed', 'returned']);
    const until = ({ status }: Transfer) => status === ('returned' as string);
    expect(await wait({ until })).toMatchObject({ status: 'returned' });
  });

  test.each([
    [['returned'], 'returned'],
    [['completed', 'returned'], 'returned'],
    [['completed', 'failed'], 'failed'],
    [['completed', 'settling', 'cancelled'], 'cancelled'],
  ])('makes waitFor reject as failed, with its last status (%o)', async (statuses, last) => {
    const { wait } = scripted(statuses);
    const error = await failureOf(wait({ until: () => false }), WaitError);
    expect(error).toMatchObject({ reason: 'failed', last: { status: last }, outcome: 'rejected' });
    const message = `ended as ${last}; the payee does not have the money`;
    expect(error.message).toContain(message);
  });
});

test.each(['settled', 'returned'])(
  '`until` of waitFor may expect the undocumented status %s',
  async (status) => {
    const { wait } = scripted(['completed', status]);
    expect(await wait({ until: (seen) => seen.status === status })).toMatchObject({ status });
  },
);

test('WaitError.last is a copy, shortened if very large', async () => {
  const clock = new VirtualClock();
  const metadata = { order: { lines: [{ price: '1.00', note: 'x'.repeat(2_000) }] } };
  const response = { ...transfer, status: 'failed', metadata };
  const failing = (body: object) =>
    failureOf(
      clientOf(() => Response.json(body), { clock }).payments.transfers.waitFor('txfr_1'),
      WaitError,
    );
  expect((await failing(response)).last).toEqual(response);
  const { last } = await failing({
    ...response,
    extra: Array.from({ length: 500_000 }, () => 'x'),
  });
  expect(last).toMatchObject(response);
  expect(JSON.stringify(last).length).toBeLessThan(5_000);
});

test('WaitError.last has a large integer as a string', async () => {
  const text = JSON.stringify({ ...transfer, status: 'failed' }).replace(
    '{',
    '{"block":9007199254740993,',
  );
  const { payments } = clientOf(() => new Response(text), { clock: new VirtualClock() });
  const { last } = await failureOf(payments.transfers.waitFor('txfr_1'), WaitError);
  expect(JSON.stringify(last)).toContain('"block":"9007199254740993"');
});

test('waitFor continues after responses 404 for a new transfer', async () => {
  const { wait, times } = scripted([404, 404, 404, 'pending', 'completed']);
  expect(await wait()).toMatchObject({ status: 'completed' });
  expect(times).toHaveLength(5);
});

test('waitFor throws NotFoundError after half a minute of responses 404', async () => {
  const { wait, clock } = scripted([404]);
  await failureOf(wait(), NotFoundError);
  expect(clock.passed).toBeGreaterThanOrEqual(30_000);
  expect(clock.passed).toBeLessThan(46_000);
});

test('the timeout error of waitFor names a transfer that was not found', async () => {
  const { wait } = scripted([404]);
  const error = await failureOf(wait({ timeout: 5_000 }), WaitError);
  expect(error).toMatchObject({ outcome: 'unknown', reason: 'timeout', last: undefined });
  expect(error.message).toContain('The transfer txfr_1 was not found within 5000 ms');
  expect(error.message).toContain('This does not mean that it failed');
  expect(error.cause).toBeInstanceOf(NotFoundError);
  // The 404 is not the reason if the transfer was seen before or the last poll failed differently.
  const { wait: seen } = scripted([404, 'pending']);
  const late = await failureOf(seen({ timeout: 5_000 }), WaitError);
  expect(late.message).toContain(
    'The transfer txfr_1 did not reach the requested status within 5000 ms; it was pending.',
  );
  expect(late.cause).toBeUndefined();
});

test('the AbortError of waitFor does not show an invalid id', async () => {
  const { payments } = scripted(['completed']);
  const wait = payments.transfers.waitFor('sk_live_1', {
    signal: AbortSignal.abort(),
  });
  expect((await failureOf(wait, AbortError)).message).toBe(
    'Waiting for the transfer was aborted by its signal.',
  );
});

test('waitFor rejects after five failed requests in a row', async () => {
  const { wait, requests } = scripted(['pending', 503]);
  const error = await failureOf(wait(), WaitError);
  expect(error).toMatchObject({
    reason: 'timeout',
    last: { status: 'pending' },
    outcome: 'unknown',
    retryable: true,
    operation: 'transfers.waitFor',
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
  expect(error.message).toMatch(/5 times in a row; it was pending[^]*503/);
  expect(error.cause).toBeInstanceOf(ServerError);
  expect(requests).toHaveLength(1 + 5);
});

test('waitFor continues after four failed requests in a row', async () => {
  const four = [503, 500, 503, 500];
  const { wait } = scripted([...four, 'pending', ...four, 'processing', ...four, 'completed']);
  expect(await wait()).toMatchObject({ status: 'completed' });
});

test('maxRetries applies to each request of waitFor', async () => {
  const { wait, requests } = scripted([503], { maxRetries: 2 });
  await failureOf(wait(), WaitError);
  expect(requests).toHaveLength(5 * 3);
});

test('maxRetries, headers and query of waitFor apply to each request', async () => {
  const { wait, requests } = scripted([503, 'pending', 'completed'], { maxRetries: 2 });
  await wait({ maxRetries: 0, headers: { 'x-team': 'treasury' }, query: { expand: 'all' } });
  expect(requests).toHaveLength(3);
  for (const { url, headers } of requests) {
    expect(new URL(url).search).toBe('?expand=all');
    expect(headers).toMatchObject({ 'x-team': 'treasury' });
  }
});

test('waitFor rejects as unknown if apiKey rejects before the first request', async () => {
  const apiKey = () => Promise.reject(new Error('the vault is sealed'));
  const { wait, requests } = scripted(['completed'], { apiKey });
  const error = await failureOf(wait(), ConfigurationError);
  expect(error).toMatchObject({ outcome: 'unknown', retryable: false });
  expect(error.operation).toBe('transfers.waitFor');
  expect(error.message).toContain('the vault is sealed');
  expect(requests).toEqual([]);
});

test.each([301, 401, 403, 404, 410, 422, 501])(
  'waitFor rejects as unknown after status %i',
  async (status) => {
    const { wait, requests } = scripted(['processing', status]);
    const kind = { 401: AuthenticationError, 404: NotFoundError }[status] ?? ApiError;
    const error = await failureOf<ApiError>(wait(), kind);
    expect(requests).toHaveLength(2);
    expect(error).toMatchObject({
      status,
      outcome: 'unknown',
      operation: 'transfers.waitFor',
      startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(error.message).toMatch(/it was processing\.\nThis does not mean that it failed/);
  },
);

test('waitFor continues after a response that is null', async () => {
  const clock = new VirtualClock();
  let polls = 0;
  const { payments } = clientOf(
    () => Response.json((polls += 1) === 3 ? { ...transfer, status: 'completed' } : null),
    { clock, validation: 'report' },
  );
  const wait = () => clock.runTimersDuring(payments.transfers.waitFor('txfr_1'));
  expect(await wait()).toMatchObject({ id: 'txfr_1' });
  expect(polls).toBe(3);
  const error = await failureOf(wait(), WaitError);
  expect(error).toMatchObject({ outcome: 'unknown', last: undefined });
});

test.each([
  ['a boolean', (isReached: boolean) => isReached],
  ['a promise', (isReached: boolean) => Promise.resolve(isReached)],
])('waitFor resolves as soon as `until` returns true as %s', async (_, give) => {
  const { wait, requests } = scripted(['pending', 'processing', 'completed']);
  const until = ({ status }: Transfer) => give(status === 'processing');
  expect(await wait({ until })).toMatchObject({ status: 'processing' });
  expect(requests).toHaveLength(2);
});

test('waitFor rejects at its `timeout` even if `until` never resolves', async () => {
  const { wait: waitLonger } = scripted(['pending']);
  const never = (): Promise<boolean> => new Promise(() => undefined);
  await failureOf(waitLonger({ until: never, timeout: 5_000 }), WaitError);
});

test('an abort ends waitFor during a pause', async () => {
  const { clock, payments, requests } = scripted(['pending']);
  const controller = new AbortController();
  const waiting = payments.transfers.waitFor('txfr_1', { signal: controller.signal });
  const failed = failureOf(waiting, AbortError);
  await flushPromises();
  const reason = new Error('the user left');
  controller.abort(reason);
  const error = await failed;
  expect(error).toMatchObject({
    name: 'AbortError',
    startedAt: expect.stringMatching(/^\d{4}-.*Z$/),
    operation: 'transfers.waitFor',
    outcome: 'unknown',
  });
  expect(error.cause).toBe(reason);
  expect([requests.length, clock.passed, clock.pending]).toEqual([1, 0, 0]);
});

test('an abort ends waitFor while a request waits for its response', async () => {
  const { clock, sandbox, payments } = setup();
  sandbox.faults.add({ operation: 'transfers.get', fault: { kind: 'hang' } });
  const controller = new AbortController();
  const failed = failureOf(
    payments.transfers.waitFor(id, { signal: controller.signal }),
    AbortError,
  );
  await flushPromises();
  controller.abort();
  expect((await failed).cause).toBe(controller.signal.reason);
  await flushPromises();
  expect(clock.pending).toBe(0);
});

test('waitFor sends nothing when its signal is already aborted', async () => {
  const { payments, requests } = scripted(['completed']);
  const signal = AbortSignal.abort('enough');
  const error = await failureOf(payments.transfers.waitFor('txfr_1', { signal }), AbortError);
  expect(error).toMatchObject({
    outcome: 'unknown',
    operation: 'transfers.waitFor',
    cause: 'enough',
    message: 'Waiting for the transfer txfr_1 was aborted by its signal.',
  });
  expect(requests).toEqual([]);
});

test('waitFor resolves to a failed transfer that `until` accepts', async () => {
  const { wait } = scripted(['pending', 'failed']);
  const until = ({ status }: Transfer): boolean => status === 'failed';
  expect(await wait({ until })).toMatchObject({ status: 'failed' });
});

test('waitFor rejects a failed transfer that `until` does not accept', async () => {
  const { wait } = scripted(['failed', 'completed']);
  await failureOf(wait({ until: ({ status }) => status === 'completed' }), WaitError);
});

test.each([
  ['a mistake', new Error('a mistake in the condition')],
  ['an error of the SDK', new ValidationError('No.', { outcome: 'not_sent', issues: [] })],
])('waitFor rejects with what its function `until` throws: %s', async (_, mistake) => {
  const { wait, clock } = scripted(['pending']);
  const { message } = mistake;
  const until = (): boolean => {
    throw mistake;
  };
  await expect(wait({ until })).rejects.toBe(mistake);
  expect(mistake.message).toBe(message);
  expect(clock.pending).toBe(0);
});

test('waitFor continues if onPoll throws or rejects', async () => {
  const { wait } = scripted(['pending', 'completed']);
  const onPoll = (seen: Transfer): Promise<never> => {
    if (seen.status === 'pending') throw new Error('thrown');
    return Promise.reject(new Error('rejected'));
  };
  expect(await wait({ onPoll })).toMatchObject({ status: 'completed' });
});

test.each<[string, unknown, string]>([
  ['a timeout of zero', { timeout: 0 }, 'options.timeout'],
  ['a timeout that is text', { timeout: '5' }, 'options.timeout'],
  ['a negative totalTimeout', { totalTimeout: -1 }, 'options.totalTimeout'],
  ['an interval of zero', { interval: 0 }, 'options.interval'],
  ['an interval that is not a number', { interval: Number.NaN }, 'options.interval'],
  ['an until that is no function', { until: 'completed' }, 'options.until'],
  ['an onPoll that is no function', { onPoll: {} }, 'options.onPoll'],
  ['a signal that is no AbortSignal', { signal: {} }, 'options.signal'],
  ['an unknown option', { pollInterval: 5 }, 'options.pollInterval'],
  ['a negative maxRetries', { maxRetries: -1 }, 'options.maxRetries'],
  ['options of null', null, 'options'],
  ['options that are a number', 5_000, 'options'],
])('waitFor rejects %s before it sends a request', async (_, options, at) => {
  const { payments, requests } = scripted(['completed']);
  const waiting = payments.transfers.waitFor('txfr_1', options as WaitOptions);
  const error = await failureOf(waiting, ValidationError);
  expect(error.operation).toBe('transfers.waitFor');
  expect(error.message).toContain(' in transfers.waitFor:');
  expect(error.issues.map(({ path }) => path)).toEqual([at]);
  expect(error.outcome).toBe('not_sent');
  expect(requests).toEqual([]);
});

test('the error for a misspelt option of waitFor suggests the closest', async () => {
  const options = { intervall: 5 } as WaitOptions;
  const waiting = scripted(['completed']).payments.transfers.waitFor('txfr_1', options);
  expect((await failureOf(waiting, ValidationError)).issues).toEqual([
    { path: 'options.intervall', message: 'unknown option; did you mean interval?' },
  ]);
});

test('waitFor rejects an invalid id', async () => {
  const { payments, requests } = scripted(['completed']);
  const waiting = payments.transfers.waitFor('acc_1');
  expect((await failureOf(waiting, ValidationError)).issues).toMatchObject([{ path: 'id' }]);
  expect(requests).toEqual([]);
});
