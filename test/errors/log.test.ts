import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { apiKey, clientOf, failureOf, respond } from '../support/clients.ts';
import { errorBody, newTransfer, page, transfer } from '../support/values.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

let lines: string[];

beforeEach(() => {
  lines = [];
  vi.spyOn(console, 'error').mockImplementation((line: string) => lines.push(line));
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  vi.unstubAllEnvs();
});

const start = Date.parse('2026-01-31T12:00:00Z');

/** The log of a read that is rejected once, held back and then returned in another shape. */
async function linesOf(level: string): Promise<string[]> {
  vi.stubEnv('PAYMENTS_LOG', level);
  const clock = new VirtualClock(start);
  const { payments } = clientOf(
    (_, __, count) =>
      count === 1
        ? respond(503, errorBody, { 'x-request-id': 'req_1' })
        : respond(200, { ...transfer, direction: 5 }),
    { clock },
  );
  await clock.runTimersDuring(payments.transfers.get('txfr_1'));
  return lines.map((line) => line.replace(/#\d+/, '#1'));
}

const call = 'payments warn #1 transfers.get GET /transfers/{id}';
const troubles = [
  `2026-01-31T12:00:00.000Z ${call} attempt 1: 503 in 0 ms request req_1 unknown: status 503`,
  `2026-01-31T12:00:00.000Z ${call} again in 125 ms: status 503`,
  `2026-01-31T12:00:00.125Z ${call} undocumented shape: direction`,
];
const success =
  '2026-01-31T12:00:00.125Z payments info #1 transfers.get GET /transfers/{id} attempt 2: 200 in 0 ms';

test('PAYMENTS_LOG=warn prints failed attempts and waits', async () => {
  expect((await linesOf('warn')).toSorted()).toEqual(troubles.toSorted());
});

test('PAYMENTS_LOG=info also prints successful attempts', async () => {
  expect((await linesOf('info')).toSorted()).toEqual([...troubles, success].toSorted());
});

test('PAYMENTS_LOG=debug prints the URL of each attempt', async () => {
  const attempts = (await linesOf('debug')).filter((line) => line.includes(' attempt '));
  expect(attempts).toHaveLength(2);
  for (const line of attempts) expect(line).toMatch(/ GET https:\/\/\S+\/v0\/transfers\/txfr_1 /);
});

test.for(['', 'off', 'yes'])('PAYMENTS_LOG=%s prints nothing', async (level) => {
  expect(await linesOf(level)).toEqual([]);
});

test('a wait after an earlier 429 is logged and reported to onWait', async () => {
  vi.stubEnv('PAYMENTS_LOG', 'debug');
  const heard: string[] = [];
  const clock = new VirtualClock(start);
  const { payments } = clientOf(
    (_, __, count) =>
      count === 1
        ? respond(429, errorBody, { 'retry-after': '2' })
        : respond(200, count === 2 ? transfer : { ...transfer, direction: 5 }),
    {
      clock,
      maxRetries: 0,
      hooks: {
        onRequest: () => heard.push('request'),
        onResponse: () => heard.push('response'),
        onWait: () => heard.push('wait'),
        onDrift: () => heard.push('drift'),
      },
    },
  );
  await failureOf(payments.transfers.get('txfr_1'));
  await clock.runTimersDuring(payments.transfers.get('txfr_1'));
  await clock.runTimersDuring(payments.transfers.get('txfr_1'));
  expect(lines.some((line) => line.includes('held back for 2000 ms: the platform'))).toBe(true);
  expect([...new Set(heard)].toSorted()).toEqual(['drift', 'request', 'response', 'wait']);
});

test('each drift is logged once per operation, but onDrift is always called', async () => {
  vi.stubEnv('PAYMENTS_LOG', 'warn');
  const drifts: unknown[] = [];
  const odd = { ...transfer, direction: 5 };
  const { payments } = clientOf(
    (request, _, count) => {
      const record = count < 5 ? odd : { ...odd, type: null };
      return respond(200, request.url.includes('txfr_1') ? record : page([transfer, odd, record]));
    },
    { hooks: { onDrift: (event) => drifts.push(event) } },
  );
  for (let round = 0; round < 3; round += 1) {
    await payments.transfers.list();
    await payments.transfers.get('txfr_1');
  }
  expect(lines.map((line) => line.replace(/.*#\d+ /, ''))).toEqual([
    'transfers.list GET /transfers undocumented shape: data[1].direction',
    'transfers.get GET /transfers/{id} undocumented shape: direction',
    'transfers.list GET /transfers undocumented shape: data[2].type',
    'transfers.get GET /transfers/{id} undocumented shape: type',
  ]);
  expect(drifts).toHaveLength(6);
});

test('the log names at most a thousand drifting fields', async () => {
  vi.stubEnv('PAYMENTS_LOG', 'warn');
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'by hand',
      validate: (value: unknown) => ({
        issues: Object.keys(Object(value)).map((name) => ({ message: 'unknown', path: [name] })),
      }),
    },
  } as const;
  const { payments } = clientOf((_, __, count) => respond(200, { [`field ${count}`]: 1 }));
  const request = { method: 'PUT', path: '/x', api: 'versioned', schema } as const;
  for (let count = 0; count < 1_010; count += 1) await payments.request(request);
  expect(lines).toHaveLength(1_000);
  expect(lines.at(-1)).toContain('field 1000');
});

test('PAYMENTS_LOG=debug prints no credential and no body', async () => {
  vi.stubEnv('PAYMENTS_LOG', 'debug');
  const { payments } = clientOf(() => respond(422, { error: `No ${apiKey}.`, code: 'no' }));
  const input = { ...newTransfer, description: 'invoice 4711' };
  await failureOf(payments.transfers.create(input, { query: { key: apiKey } }));
  expect(lines).toHaveLength(1);
  expect(lines.join()).not.toMatch(new RegExp(`${apiKey}|4711|No `));
});

test('a payment is made even if the console throws', async () => {
  vi.stubEnv('PAYMENTS_LOG', 'debug');
  const fail = () => {
    throw new Error('EPIPE');
  };
  vi.spyOn(console, 'error').mockImplementation(fail);
  vi.spyOn(console, 'warn').mockImplementation(fail);
  const onResponse = vi.fn();
  const { payments } = clientOf(() => respond(200, transfer), {
    hooks: { onResponse },
    timeout: 119, // a client warns of so few milliseconds
  });
  await expect(payments.transfers.create(newTransfer)).resolves.toMatchObject({ id: 'txfr_1' });
  expect(onResponse).toHaveBeenCalledTimes(1);
});
