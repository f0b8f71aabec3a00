import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { getEventListeners } from 'node:events';
import { PaymentsClient } from 'payments-platform-sdk';
import {
  Sandbox,
  type SandboxOptions,
  type SandboxFault,
  type SandboxFaultRule,
} from 'payments-platform-sdk/sandbox';
import { createFailureRules } from '../../src/sandbox/faults/faults.ts';
import { expect, test } from 'vitest';
import { createAccounts } from '../support/platform.ts';
import { call, having } from './calls.ts';
import { flushPromises } from '../support/virtual-clock.ts';
import { errorBodySchema } from '../../src/schemas/error-body.ts';

function setup(options: SandboxOptions = {}) {
  const sandbox = new Sandbox(options);
  const { source, destination } = createAccounts(sandbox);
  const key = { authorization: `Bearer ${sandbox.apiKey}` };
  const terms = {
    sourceAccountId: source.id,
    destinationAccountId: destination.id,
    amount: '1',
  };
  return {
    sandbox,
    inject: (fault: SandboxFault, more: Partial<SandboxFaultRule> = {}) =>
      sandbox.faults.add({ operation: 'transfers.create', ...more, fault }),
    send: () => call(sandbox, 'POST', '/transfers', terms),
    /** Returns the Response itself. The signal aborts the request. */
    raw: (signal?: AbortSignal) =>
      sandbox.fetch('https://h/v0/transfers', {
        method: 'POST',
        headers: key,
        body: JSON.stringify(terms),
        ...(signal && { signal }),
      }),
    committed: () => sandbox.transfers.list().length,
  };
}

function readerOf({ body }: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (body === null) throw new Error('the response has a body');
  return (body as ReadableStream<Uint8Array>).getReader();
}
const textOf = (response: Response) => response.text();

test('the fault "status" prevents the effect and sends an Error body', async () => {
  const { inject, send, committed } = setup();
  inject({ kind: 'status', status: 503, retryAfter: 2 });
  const { status, headers, body } = await send();
  expect(status).toBe(503);
  expect(headers.get('retry-after')).toBe('2');
  expect(headers.get('content-type')).toBe('application/json');
  expect(headers.get('x-request-id')).toBe('req_000001');
  expect(body).toEqual({
    error: 'The sandbox simulates a response with status 503.',
    code: 'injected_fault',
    details: null,
  });
  expect(errorBodySchema().safeParse(body).success).toBe(true);
  expect(committed()).toBe(0);
  expect((await send()).status).toBe(201);
});

test('the fault "status" with when: after_commit lets the request take effect', async () => {
  const { inject, send, committed } = setup();
  inject({
    kind: 'status',
    status: 429,
    retryAfter: 'Thu, 01 Jan 2026 00:00:00 GMT',
    code: 'slow_down',
    error: 'Too fast.',
    headers: { 'x-note': 'n' },
    when: 'after_commit',
  });
  const { status, headers, body } = await send();
  expect(status).toBe(429);
  expect(headers.get('retry-after')).toBe('Thu, 01 Jan 2026 00:00:00 GMT');
  expect(headers.get('x-note')).toBe('n');
  expect(body).toEqual({ error: 'Too fast.', code: 'slow_down', details: null });
  expect(committed()).toBe(1);
});

test('the fault "status" below 400 keeps the body of the response', async () => {
  const { inject, send, committed } = setup();
  inject({ kind: 'status', status: 202 });
  expect(await send()).toMatchObject({ status: 202, body: { id: 'txfr_000001' } });
  inject({ kind: 'status', status: 302, headers: { location: '/x' }, when: 'after_commit' });
  const redirect = await send();
  expect(redirect).toMatchObject({ status: 302, body: { id: 'txfr_000002' } });
  expect(redirect.headers.get('location')).toBe('/x');
  inject({ kind: 'status', status: 204 });
  expect(await send()).toMatchObject({ status: 204, body: undefined });
  expect(committed()).toBe(3);
  inject({ kind: 'status', status: 307 });
  expect(await send()).toMatchObject({ status: 307, body: { code: 'injected_fault' } });
  expect(committed()).toBe(3);
});

test.each([
  [{ kind: 'html' }, 502, 0],
  [{ kind: 'html', status: 200 }, 200, 0],
  [{ kind: 'html', status: 504, when: 'after_commit' }, 504, 1],
] as const)('the fault "html" responds with an HTML page: %j', async (fault, status, count) => {
  const { inject, raw, committed } = setup();
  inject(fault);
  const response = await raw();
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toContain('text/html');
  expect(await response.text()).toMatch(/^<!doctype html>/);
  expect(committed()).toBe(count);
});

test('the error of the client shows the page of the fault "html"', async () => {
  const sandbox = new Sandbox();
  const payments = new PaymentsClient(sandbox.clientOptions);
  sandbox.faults.add({ operation: 'entities.list', fault: { kind: 'html' } });
  await expect(payments.entities.list({}, { maxRetries: 0 })).rejects.toThrow(
    /responded with 502 \(text\/html\); .*\nA read .*\nMessage: a page of a proxy, simulated by the sandbox/,
  );
});

test.each([
  ['before_commit', 0],
  ['after_commit', 1],
] as const)(
  'the fault "reset" with %s rejects as the fetch of Node.js does',
  async (when, count) => {
    const { inject, raw, committed } = setup();
    inject({ kind: 'reset', when });
    const error: unknown = await raw().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(TypeError);
    expect(error).toMatchObject({
      message: 'fetch failed',
      cause: { message: 'read ECONNRESET', code: 'ECONNRESET', errno: -104, syscall: 'read' },
    });
    expect(committed()).toBe(count);
  },
);

test.each([
  [{ kind: 'truncated_body' }, 1, 201],
  [{ kind: 'truncated_body', when: 'after_commit' }, 1, 201],
  [{ kind: 'truncated_body', when: 'before_commit' }, 0, 500],
] as const)(
  'the fault "truncated_body" ends a body in the middle: %j',
  async (fault, count, status) => {
    const { inject, raw, committed } = setup();
    inject(fault);
    const response = await raw();
    expect(response.status).toBe(status);
    const reader = readerOf(response);
    const first = await reader.read();
    const size = first.value?.length ?? 0;
    expect(size).toBeGreaterThan(10);
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(size);
    const half = new TextDecoder().decode(first.value);
    expect(half).toMatch(/^\{"/);
    expect(() => void JSON.parse(half)).toThrow(SyntaxError);
    const error: unknown = await reader.read().catch((reason: unknown) => reason);
    expect(error).toEqual(new TypeError('terminated'));
    expect(committed()).toBe(count);
  },
);

test.each([
  [{ kind: 'stalled_body' }, 1, 201],
  [{ kind: 'stalled_body', when: 'before_commit' }, 0, 500],
] as const)(
  'the fault "stalled_body" stops mid-body until an abort: %j',
  async (fault, count, status) => {
    const { inject, raw, committed } = setup();
    inject(fault);
    const { signal, abort } = controller();
    const response = await raw(signal);
    expect(response.status).toBe(status);
    const reader = readerOf(response);
    expect((await reader.read()).value?.length).toBeGreaterThan(10);
    const rest = reader.read();
    expect(await Promise.race([rest, flushPromises().then(() => 'still waiting')])).toBe(
      'still waiting',
    );
    const reason = new Error('enough');
    abort(reason);
    await expect(rest).rejects.toBe(reason);
    expect(committed()).toBe(count);
  },
);

test('the fault "stalled_body" removes its abort listener after a cancel', async () => {
  const { inject, raw } = setup();
  inject({ kind: 'stalled_body' });
  const { signal } = controller();
  const response = await raw(signal);
  expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
  const before = getEventListeners(signal, 'abort').length;
  await response.body?.cancel();
  expect(getEventListeners(signal, 'abort').length).toBe(before - 1);
});

test.each([
  [{ kind: 'hang' }, 0],
  [{ kind: 'hang', when: 'after_commit' }, 1],
] as const)('the fault "hang" sends nothing until the caller aborts: %o', async (fault, count) => {
  const { inject, raw, committed } = setup();
  inject(fault);
  const { signal, abort } = controller();
  const pending = raw(signal);
  expect(await Promise.race([pending, flushPromises().then(() => 'still waiting')])).toBe(
    'still waiting',
  );
  expect(committed()).toBe(count);
  const reason = new Error('enough');
  abort(reason);
  await expect(pending).rejects.toBe(reason);
  expect(committed()).toBe(count);
});

test('an abort while the request arrives ends the fault "hang" at once', async () => {
  const { sandbox, inject } = setup();
  inject({ kind: 'hang' }, { operation: 'entities.list' });
  const { signal, abort } = controller();
  const request = new Request('https://h/v0/entities', { signal });
  // The sandbox applies the fault in the same turn, so this abort comes after the fault.
  const pending = sandbox.fetch(request);
  queueMicrotask(() => abort(new Error('left')));
  await expect(pending).rejects.toThrow('left');
});

test.each(['hang', 'stalled_body'] as const)(
  'an abort ends the fault "%s" even after a garbage collection',
  async (kind) => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const { sandbox, inject } = setup();
    inject({ kind }, { operation: 'entities.list' });
    const { signal, abort } = controller();
    const pending = sandbox
      .fetch(new Request('https://h/v0/entities', { signal }))
      .then(textOf)
      .catch((reason: unknown) => reason);
    for (let round = 0; round < 5; round += 1) {
      await flushPromises();
      collect();
    }
    abort(new Error('enough'));
    expect(await Promise.race([pending, flushPromises().then(() => 'forgotten')])).toEqual(
      new Error('enough'),
    );
  },
);

test('the fault "delay" commits at once and responds late', async () => {
  const timers: { run: () => void; ms: number }[] = [];
  const setTimeout = (run: () => void, ms: number): number => timers.push({ run, ms });
  const { inject, send, committed } = setup({ clock: { now: () => 0, setTimeout } });
  inject({ kind: 'delay', ms: 60_000 });
  const pending = send();
  await expect.poll(() => timers.map(({ ms }) => ms)).toEqual([60_000]);
  expect(committed()).toBe(1);
  const early = Symbol('early');
  expect(await Promise.race([pending, flushPromises().then(() => early)])).toBe(early);
  timers[0]?.run();
  expect((await pending).status).toBe(201);
});

test('the fault "delay" removes its abort listener afterwards', async () => {
  const { sandbox, inject, raw } = setup();
  inject({ kind: 'delay', ms: 200 });
  const { signal } = controller();
  const pending = raw(signal);
  await expect.poll(() => sandbox.log.length).toBe(1);
  const during = getEventListeners(signal, 'abort').length;
  await pending;
  expect(getEventListeners(signal, 'abort')).toHaveLength(during - 1);
});

test('the fault "delay" ends when the caller aborts', async () => {
  const { sandbox, inject, raw } = setup();
  inject({ kind: 'delay', ms: 60_000 });
  const { signal, abort } = controller();
  const pending = raw(signal);
  await expect.poll(() => sandbox.log.length).toBe(1);
  abort(new Error('enough'));
  await expect(pending).rejects.toThrow('enough');
  expect(sandbox.log.at(-1)).toMatchObject({ fault: 'delay', status: undefined });
});

test('a fault rule skips `after` requests, then affects `times` requests', async () => {
  const { inject, send } = setup();
  const statuses = async (count: number) => {
    const seen: number[] = [];
    for (let turn = 0; turn < count; turn += 1) seen.push((await send()).status);
    return seen;
  };
  inject({ kind: 'status', status: 500 });
  expect(await statuses(2)).toEqual([500, 201]);
  inject({ kind: 'status', status: 500 }, { times: 2, after: 1 });
  expect(await statuses(4)).toEqual([201, 500, 500, 201]);
  inject({ kind: 'status', status: 500 }, { times: Infinity });
  expect(await statuses(5)).toEqual([500, 500, 500, 500, 500]);
});

test('the oldest matching fault rule applies, and each matching rule counts requests', async () => {
  const { inject, send } = setup();
  inject({ kind: 'status', status: 500 });
  inject({ kind: 'status', status: 501 }, { after: 1 });
  inject({ kind: 'status', status: 502 }, { operation: '*' });
  inject({ kind: 'status', status: 503 }, { operation: 'transfers.get' });
  expect((await send()).status).toBe(500);
  expect((await send()).status).toBe(501);
  expect((await send()).status).toBe(502);
  expect((await send()).status).toBe(201);
});

test('faults.clear removes every fault rule', async () => {
  const { sandbox, inject, send } = setup();
  inject({ kind: 'status', status: 500 }, { times: Infinity });
  sandbox.faults.clear();
  expect((await send()).status).toBe(201);
});

test('a fault rule applies to one operation, or with "*" to all', async () => {
  const { sandbox, inject, send } = setup();
  inject({ kind: 'status', status: 500 }, { operation: 'transfers.list' });
  expect((await send()).status).toBe(201);
  expect((await call(sandbox, 'GET', '/transfers')).status).toBe(500);
  inject({ kind: 'status', status: 500 }, { operation: '*', times: 2 });
  expect((await call(sandbox, 'GET', '/nothing')).status).toBe(500);
  expect((await send()).status).toBe(500);
});

test('a fault affects even a request without a credential or valid JSON', async () => {
  const { sandbox, inject } = setup();
  inject({ kind: 'status', status: 503 });
  const unauthorised = await sandbox.fetch('https://h/v0/transfers', { method: 'POST', body: '{' });
  expect(unauthorised.status).toBe(503);
  inject({ kind: 'truncated_body' });
  const refused = await sandbox.fetch('https://h/v0/transfers', { method: 'POST', body: '{' });
  expect(refused.status).toBe(401);
  await expect(refused.text()).rejects.toThrow('terminated');
});

test('the fault "status" below 400 does not hide a rejection', async () => {
  const { sandbox, inject, committed } = setup();
  inject({ kind: 'status', status: 202 });
  const unauthorised = await sandbox.fetch('https://h/v0/transfers', { method: 'POST', body: '{' });
  expect(unauthorised.status).toBe(401);
  expect(committed()).toBe(0);
});

test('faults.add copies the fault, so later changes have no effect', async () => {
  const { sandbox, send } = setup();
  const fault = { kind: 'status' as const, status: 503 };
  sandbox.faults.add({ operation: 'transfers.create', fault });
  fault.status = 418;
  expect(await send()).toMatchObject({ status: 503 });
});

test('the faults "truncated_body" and "empty_page" skip a 204 response', async () => {
  const { sandbox, inject } = setup();
  const remove = () => call(sandbox, 'DELETE', '/counterparties/cpty_000001');
  sandbox.counterparties.create({ entityId: 'ent_000001' });
  inject({ kind: 'truncated_body' }, { operation: '*' });
  inject({ kind: 'empty_page' }, { operation: '*' });
  expect((await remove()).status).toBe(204);
  await expect(call(sandbox, 'GET', '/entities/ent_000001')).rejects.toThrow('terminated');
  expect((await call(sandbox, 'GET', '/entities')).body).toMatchObject({ data: [], hasMore: true });
  inject({ kind: 'reset', when: 'before_commit' }, { operation: 'counterparties.delete' });
  await expect(remove()).rejects.toThrow('fetch failed');
});

interface Page {
  data: { id: string }[];
  hasMore: boolean;
  nextCursor: string | null;
}
const listed = async (sandbox: Sandbox, query: string) =>
  (await call(sandbox, 'GET', `/accounts?${query}`)).body as Page;

test('the fault "repeated_cursor" repeats the cursor of the request', async () => {
  const { sandbox, inject } = setup();
  inject({ kind: 'repeated_cursor' }, { operation: 'accounts.list' });
  const first = await listed(sandbox, 'limit=1');
  expect(first.data.map(({ id }) => id)).toEqual(['acc_000001']);
  const second = await listed(sandbox, `limit=1&cursor=${first.nextCursor}`);
  expect(second).toEqual({
    data: [having({ id: 'acc_000002' })],
    hasMore: true,
    nextCursor: first.nextCursor,
  });
  const third = await listed(sandbox, `limit=1&cursor=${second.nextCursor}`);
  expect(third).toMatchObject({ hasMore: false, nextCursor: null });
});

test('the fault "repeated_cursor" applies even to a single page', async () => {
  const { sandbox, inject } = setup();
  inject({ kind: 'repeated_cursor' }, { operation: 'accounts.list', times: Infinity });
  const first = await listed(sandbox, '');
  expect(first.data).toHaveLength(2);
  expect(first.hasMore).toBe(true);
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await listed(sandbox, `cursor=${first.nextCursor}`)).toEqual({
      data: [],
      hasMore: true,
      nextCursor: first.nextCursor,
    });
  }
});

test('the fault "empty_page" inserts empty pages and loses no record', async () => {
  const { sandbox, inject } = setup();
  inject({ kind: 'empty_page' }, { operation: 'accounts.list', times: 2 });
  inject({ kind: 'empty_page' }, { operation: 'accounts.list', after: 3, times: 2 });
  const seen: string[] = [];
  const cursors: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const page: Page = await listed(sandbox, `limit=1${cursor && `&cursor=${cursor}`}`);
    seen.push(page.data.map(({ id }) => id).join() || '(empty)');
    cursor = page.nextCursor;
    cursors.push(String(cursor));
  }
  expect(seen).toEqual(['(empty)', '(empty)', 'acc_000001', '(empty)', '(empty)', 'acc_000002']);
  expect(new Set(cursors).size).toBe(cursors.length);
});

test.each<[faultRule: object, message: RegExp | string]>([
  [{ operation: 'transfers.make' }, /operation: expected "\*" or one of/],
  [
    { fault: { kind: 'explode' } },
    /fault.kind: expected a fault with one of the kinds status, del/,
  ],
  [{ fault: undefined }, /fault: this field is required/],
  [{ fault: { kind: 'reset' } }, /fault.when: this field is required; expected one of before_com/],
  [{ fault: { kind: 'reset', when: 'later' } }, /fault.when: expected one of/],
  [{ fault: { kind: 'status' } }, /fault.status: this field is required/],
  [{ fault: { kind: 'status', status: 600 } }, /fault.status: expected a status/],
  [{ fault: { kind: 'status', status: 199 } }, /fault.status: expected a status/],
  [
    { fault: { kind: 'status', status: 200, when: 'before_commit' } },
    /means that the call took ef/,
  ],
  [{ fault: { kind: 'status', status: 500, retryAfter: true } }, /retryAfter/],
  [{ fault: { kind: 'status', status: 500, headers: { a: 1 } } }, /fault.headers.a: expected a st/],
  [
    { fault: { kind: 'status', status: 500, headers: { 'a b': 'c' } } },
    /expected names and values/,
  ],
  [{ fault: { kind: 'status', status: 500, retryAfter: '1\r\nx: y' } }, /the value of a header/],
  [{ fault: { kind: 'html', status: 1 } }, /fault.status: expected a status/],
  [{ fault: { kind: 'html', status: 204 } }, /fault.status: .* have no page/],
  [{ fault: { kind: 'delay' } }, /fault.ms: this field is required/],
  [{ fault: { kind: 'delay', ms: -1 } }, /fault.ms: expected milliseconds/],
  [{ fault: { kind: 'delay', ms: 2 ** 31 } }, /fault.ms: expected milliseconds/],
  [{ fault: { kind: 'hang', ms: 5 } }, /fault.ms: this field is not known/],
  [{ times: 0 }, /times: expected a whole number, 1 or/],
  [{ times: 1.5 }, /times: expected a whole number/],
  [{ times: 'never' }, 'times: expected a whole number, 1 or more, or "always"'],
  [{ after: -1 }, /after: expected a whole number, 0 or/],
  [{ percent: 0 }, 'percent: expected a number above 0, up to 100'],
  [{ percent: 101 }, 'percent: expected a number above 0, up to 100'],
  [{ seed: 0.5 }, 'seed: expected a whole number'],
  [{ once: true }, /once: this field is not known/],
  [
    { operation: 'transfers.create', fault: { kind: 'empty_page' } },
    /apply: transfers.create resp/,
  ],
  [{ operation: 'transactions.list', fault: { kind: 'repeated_cursor' } }, /no page with a cursor/],
  [{ operation: 'ibans.delete', fault: { kind: 'stalled_body' } }, /responds with no body/],
])('faults.add rejects the rule %j', (wrong, message) => {
  const { faults } = new Sandbox();
  const faultRule = { operation: '*', fault: { kind: 'hang' }, ...wrong } as SandboxFaultRule;
  expect(() => faults.add(faultRule)).toThrow(TypeError);
  expect(() => faults.add(faultRule)).toThrow(message);
});

function controller() {
  const target = new AbortController();
  return { signal: target.signal, abort: (reason: unknown) => target.abort(reason) };
}

test('a seeded percent rule affects the same requests every time', async () => {
  const play = async (seed: number) => {
    const sandbox = new Sandbox();
    const fault = { kind: 'status', status: 503 } as const;
    sandbox.faults.add({ operation: '*', percent: 20, seed, fault });
    const affectedRequests: number[] = [];
    for (let count = 0; count < 1000; count += 1) {
      if ((await call(sandbox, 'GET', '/entities')).status === 503) affectedRequests.push(count);
    }
    return affectedRequests;
  };
  const affectedRequests = await play(1);
  expect(affectedRequests.length).toBeGreaterThan(150);
  expect(affectedRequests.length).toBeLessThan(250);
  expect(await play(1)).toEqual(affectedRequests);
  expect(await play(2)).not.toEqual(affectedRequests);
});

test.each([5, 60, 100])(
  'createFailureRules makes %i percent fail, half of them after taking effect',
  async (percent) => {
    const sandbox = new Sandbox();
    for (const faultRule of createFailureRules(percent, 1)) sandbox.faults.add(faultRule);
    const seen = new Map<number | undefined, number>();
    for (let count = 0; count < 2000; count += 1) {
      await call(sandbox, 'POST', '/entities', { email: 'a@b.example' }).catch(() => {});
    }
    for (const { status } of sandbox.log) seen.set(status, (seen.get(status) ?? 0) + 1);
    const failed = 2000 - (seen.get(201) ?? 0);
    expect(Math.abs(failed / 20 - percent)).toBeLessThan(4);
    // Half of the failed requests had taken effect.
    const unheard = sandbox.entities.list().length - (seen.get(201) ?? 0);
    expect(Math.abs(unheard / failed - 0.5)).toBeLessThan(0.15);
  },
);

test('a percent rule is kept by importState, but not exported', () => {
  const sandbox = new Sandbox();
  const [faultRule] = createFailureRules(5, 1);
  if (faultRule === undefined) throw new Error('there are no rules');
  sandbox.faults.add(faultRule);
  sandbox.faults.add({ operation: '*', fault: { kind: 'hang' } });
  const { faults } = sandbox.exportState();
  expect(faults).toEqual([{ operation: '*', times: 1, after: 0, fault: { kind: 'hang' } }]);
  sandbox.importState({ version: 1 });
  expect(sandbox.faults.list()).toMatchObject([{ percent: 1.25 }]);
});
