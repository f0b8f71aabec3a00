import fc from 'fast-check';
import { ApiError, isPaymentsError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { describe, expect, test } from 'vitest';
import {
  connectionOutcome,
  statusOutcome,
  worstOutcome,
  type Kind,
  type TransportFacts,
} from '../../src/errors/outcome.ts';
import { mayResend } from '../../src/calls/retry.ts';
import { clientOf, failureOf, respond } from '../support/clients.ts';
import { html, newTransfer } from '../support/values.ts';

const kinds: readonly Kind[] = ['safe', 'idempotent', 'once'];
const span = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

/** Statuses that stock proxies send only before they forward a request. */
const sentBeforeForwarding = new Set([407, 411, 413, 414, 415, 417, 421, 425, 426, 429, 431]);
const rejectsWithErrorBody = (status: number): boolean =>
  [307, 308, 501, 505].includes(status) ||
  (status >= 400 && status < 500 && status !== 408 && status !== 499);

test('statusOutcome is correct for each status from 300 to 599', () => {
  for (const status of span(300, 599)) {
    for (const hasErrorBody of [true, false]) {
      const isRejected = hasErrorBody
        ? rejectsWithErrorBody(status)
        : sentBeforeForwarding.has(status);
      const write = isRejected ? 'rejected' : 'unknown';
      const read = status < 400 || rejectsWithErrorBody(status) ? 'rejected' : 'unknown';
      const proven = kinds.map((kind) => statusOutcome(status, kind, { hasErrorBody }));
      expect([status, hasErrorBody, ...proven]).toEqual([status, hasErrorBody, read, write, write]);
    }
  }
});

const platformError = JSON.stringify({ error: 'No.', code: 'some_code', details: null });
const reference = 'invoice 4711';

/** A platform that makes a payment, behind a proxy that replaces its 201. */
function setupReplacingProxy(status: number, body: string) {
  const sandbox = new Sandbox();
  const { id: entityId } = sandbox.entities.create({ email: 'ada@example.com' });
  sandbox.entities.approve(entityId);
  for (const name of ['Source', 'Destination']) sandbox.accounts.create({ entityId, name });
  sandbox.accounts.fund('acc_000001', '1000');
  const payments = new PaymentsClient({
    ...sandbox.clientOptions,
    journal: memoryJournal(),
    maxRetries: 0,
    fetch: async (request, init) => {
      const response = await sandbox.fetch(request, init);
      if (response.status !== 201) return response;
      return new Response(status === 304 ? null : body, { status });
    },
  });
  const input = {
    sourceAccountId: 'acc_000001',
    destinationAccountId: 'acc_000002',
    amount: '12.50',
    description: reference,
  } as const;
  return { sandbox, payments, input };
}

describe.each([
  ['an Error body as the platform has', platformError],
  ['an HTML page', html],
  ['an empty body', ''],
])('a creation whose 201 a proxy replaces with %s', (_, body) => {
  const isRejected = (status: number): boolean =>
    (body === platformError && rejectsWithErrorBody(status)) || sentBeforeForwarding.has(status);

  test('has outcome unknown unless the status proves a rejection', async () => {
    for (const status of span(300, 599)) {
      const { payments, input } = setupReplacingProxy(status, body);
      const { outcome, message } = await failureOf(payments.transfers.create(input), ApiError);
      expect([status, outcome]).toEqual([status, isRejected(status) ? 'rejected' : 'unknown']);
      if (outcome === 'rejected') {
        expect(message).toContain('It did not take effect.');
        continue;
      }
      expect(message).toContain('Outcome unknown: the transfer may have taken effect.');
      expect(message).not.toMatch(
        /did not take|nothing|will not help|refused|rejected|may not do/i,
      );
      const isOfPlatform = body === platformError && status !== 304;
      expect(message.includes('proxy')).toBe(!isOfPlatform);
      expect(message.includes("A proxy may have replaced the platform's response.")).toBe(
        !isOfPlatform,
      );
    }
  });

  test('is found by createOnce unless the status means rejected', async () => {
    for (const status of span(300, 599)) {
      const { sandbox, payments, input } = setupReplacingProxy(status, body);
      const call = payments.transfers.createOnce(input);
      const result = await call.then(
        ({ id }) => id,
        (error: unknown) => isPaymentsError(error) && error.outcome,
      );
      expect([status, result]).toEqual([status, isRejected(status) ? 'rejected' : 'txfr_000001']);
      expect(sandbox.transfers.list()).toHaveLength(1);
    }
  });
});

const http = 'http://127.0.0.1:8080/v0';
test.each([
  [307, http, 'https://127.0.0.1/v0/transfers?a=1', 'rejected'],
  [308, http, 'https://127.0.0.1:8443/v0/transfers?a=1', 'rejected'],
  [308, http, '//127.0.0.1/v0/transfers?a=1', 'unknown'],
  [308, http, 'https://127.0.0.1/v0/transfers', 'unknown'],
  [308, http, 'https://127.0.0.1/v0/transfers?a=2', 'unknown'],
  [308, http, 'https://127.0.0.1/transfers?a=1', 'unknown'],
  [308, http, 'https://localhost/v0/transfers?a=1', 'unknown'],
  [308, http, 'https://', 'unknown'],
  [308, http, undefined, 'unknown'],
  [308, 'https://127.0.0.1/v0', 'https://127.0.0.1/v0/transfers?a=1', 'unknown'],
  [302, http, 'https://127.0.0.1/v0/transfers?a=1', 'unknown'],
  [404, http, 'https://127.0.0.1/v0/transfers?a=1', 'unknown'],
])(
  'a creation with status %i from %s, location %s, has outcome %s',
  async (status, baseUrl, location, outcome) => {
    const headers = location === undefined ? undefined : { location };
    const { payments } = clientOf(() => respond(status, undefined, headers), { baseUrl });
    const call = payments.transfers.create(newTransfer, { query: { a: '1' } });
    expect((await failureOf(call, ApiError)).outcome).toBe(outcome);
  },
);

test('statusOutcome returns unknown for a status outside 300 to 599', () => {
  for (const status of [0, 100, 101, 103, 199, 200, 204, 299, 600, 700, 999]) {
    for (const kind of kinds) {
      expect(statusOutcome(status, kind, { hasErrorBody: true })).toBe('unknown');
    }
  }
});

test("worstOutcome returns the worst outcome among a call's attempts", () => {
  const of = (...outcomes: ('not_sent' | 'rejected' | 'unknown')[]) =>
    worstOutcome(outcomes.map((outcome) => ({ outcome })));
  expect(of()).toBe('not_sent');
  expect(of('not_sent', 'not_sent')).toBe('not_sent');
  expect(of('not_sent', 'rejected', 'not_sent')).toBe('rejected');
  expect(of('unknown', 'rejected', 'not_sent')).toBe('unknown');
});

interface ErrorParts {
  readonly code?: string;
  readonly syscall?: string;
  readonly message?: string;
  readonly name?: string;
}
const failure = ({ message = 'failed', ...rest }: ErrorParts): Error =>
  Object.assign(new Error(message), rest);
const connect = (code: string): Error =>
  failure({ code, syscall: 'connect', message: `connect ${code} 127.0.0.1:1` });
const coded = (code: string, message = code): Error => failure({ code, message });
const wrapped = (cause: Error): Error => new TypeError('fetch failed', { cause });

const departure = (runtime: TransportFacts['runtime'], sealed = true): TransportFacts => ({
  runtime,
  sendsOnce: sealed,
});

/** Error codes of certificates that the client rejected. */
const certificates = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'HOSTNAME_MISMATCH',
  'INVALID_CA',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
];
const reset = failure({ code: 'ECONNRESET', syscall: 'read', message: 'read ECONNRESET' });

const proofs: readonly [TransportFacts['runtime'], string, Error][] = [
  [
    'bun',
    'every address refused',
    new AggregateError([connect('ECONNREFUSED'), connect('ENETUNREACH')]),
  ],
  ['bun', 'refused', coded('ECONNREFUSED')],
  ['bun', 'refused, with the code ConnectionRefused', coded('ConnectionRefused')],
  ['bun', 'no route', coded('ENETUNREACH')],
  ['bun', 'no host', coded('EHOSTUNREACH')],
  ['bun', 'no such host', coded('ENOTFOUND')],
  ['bun', 'no answer to the lookup', coded('EAI_AGAIN')],
  ['deno', 'refused', new Error('client error (Connect): tcp connect error')],
  ['deno', 'no such host', new Error('client error (Connect): dns error')],
  ['deno', 'handshake cut', new Error('client error (Connect): tls handshake eof')],
];

test.each(proofs)('connectionOutcome on %s returns not_sent for "%s"', (runtime, _, error) => {
  for (const whole of [error, wrapped(error), wrapped(wrapped(error))]) {
    expect(connectionOutcome(whole, departure(runtime))).toMatchObject({
      outcome: 'not_sent',
      transient: true,
    });
    // The same messages prove nothing if the runtime may have sent the request before.
    expect(connectionOutcome(whole, departure(runtime, false)).outcome).toBe('unknown');
    expect(connectionOutcome(whole, departure('other')).outcome).toBe('unknown');
  }
});

test.each(['node', 'bun'] as const)('a rejected certificate on %s allows no retry', (runtime) => {
  for (const code of certificates) {
    const error = wrapped(coded(code));
    expect(connectionOutcome(error, departure(runtime))).toEqual({
      outcome: 'not_sent',
      code,
      transient: false,
      connectTimedOut: false,
      obstacle: 'certificate',
    });
    // A custom fetch may have sent the request to another address before.
    expect(connectionOutcome(error, departure('other')).outcome).toBe('unknown');
    expect(connectionOutcome(error, departure(runtime, false)).outcome).toBe('unknown');
  }
});

const certificateAlerts = [
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
  'ERR_SSL_TLSV1_ALERT_ACCESS_DENIED',
  'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_REVOKED',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
];

test.each(certificateAlerts)('connectionOutcome of %s is not_sent only over TLS 1.3', (code) => {
  const sent = { started: true, isFirstByTls13: true };
  expect(connectionOutcome(coded(code), departure('node'), sent)).toMatchObject({
    outcome: 'not_sent',
    transient: false,
    obstacle: 'client_certificate',
  });
  // The server may have read it if it has accepted the certificate before.
  for (const evidence of [{ started: true }, { started: true, isFirstByTls13: false }]) {
    expect(connectionOutcome(coded(code), departure('node'), evidence).outcome).toBe('unknown');
  }
});

test.each([
  'ERR_SSL_TLSV1_ALERT_INTERNAL_ERROR',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_DECRYPTION_FAILED_OR_BAD_RECORD_MAC',
  'ECONNRESET',
])("connectionOutcome of %s is unknown after the request's first byte", (code) => {
  const sent = { started: true, isFirstByTls13: true };
  expect(connectionOutcome(coded(code), departure('node'), sent).outcome).toBe('unknown');
});

test.each([
  'write EPROTO 40ED:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert handshake failure:',
  'write EPROTO 40ED:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:',
])('a connection without a common TLS version is not_sent, without a retry', (message) => {
  const error = Object.assign(new Error(message), { code: 'EPROTO' });
  expect(connectionOutcome(error, departure('node'), { started: false })).toMatchObject({
    outcome: 'not_sent',
    transient: false,
    obstacle: 'options',
  });
});

test('a rejected certificate among several addresses allows no retry', () => {
  const mixed = new AggregateError([connect('ECONNREFUSED'), coded('CERT_HAS_EXPIRED')]);
  expect(connectionOutcome(mixed, departure('bun'))).toMatchObject({
    outcome: 'not_sent',
    transient: false,
  });
});

test('a refused connection has the same error code on Deno and Node', () => {
  const refused = 'client error (Connect): tcp connect error: Connection refused (os error 111)';
  expect(connectionOutcome(new Error(refused), departure('deno')).code).toBe('ECONNREFUSED');
});

test('mayResend allows a second attempt after status 425 or 429', () => {
  for (const status of [425, 429]) {
    for (const kind of ['once', 'idempotent'] as const) {
      const outcome = statusOutcome(status, kind, { hasErrorBody: true });
      expect(mayResend(kind, { status, transient: true, outcome })).toBe(true);
    }
  }
});

test('a rejected certificate on Deno has outcome not_sent, without a retry', () => {
  const error = new Error('client error (Connect): invalid peer certificate: UnknownIssuer');
  expect(connectionOutcome(error, departure('deno'))).toMatchObject({
    outcome: 'not_sent',
    transient: false,
  });
});

const doubts: readonly [TransportFacts['runtime'], string, unknown][] = [
  ['node', 'a refused connection without evidence', connect('ECONNREFUSED')],
  ['bun', 'a reset while writing', failure({ code: 'ECONNRESET', syscall: 'write' })],
  ['bun', 'a broken pipe', failure({ code: 'EPIPE', syscall: 'write' })],
  ['bun', 'a response that is not HTTP', coded('HPE_INVALID_CONSTANT')],
  ['bun', 'a read that timed out', failure({ code: 'ETIMEDOUT', syscall: 'read' })],
  ['bun', 'a cut body', new TypeError('terminated')],
  ['bun', 'an abort', new DOMException('aborted', 'AbortError')],
  ['bun', 'Deno’s message', new Error('client error (Connect): tcp connect error')],
  [
    'bun',
    'one reset among refused addresses',
    new AggregateError([connect('ECONNREFUSED'), reset]),
  ],
  ['bun', 'an AggregateError without members', new AggregateError([])],
  ['bun', 'undefined', undefined],
  ['bun', 'a string', 'ECONNREFUSED'],
  ['bun', 'an object that is no error', { code: 'ECONNREFUSED', syscall: 'connect' }],
  ['deno', 'a code of Bun', coded('ConnectionRefused')],
  ['deno', 'a code of Node', connect('ECONNREFUSED')],
  ['bun', 'a reset', coded('ECONNRESET')],
  ['bun', 'a handshake that failed, or garbage after the request', coded('EPROTO')],
  ['bun', 'a timeout', new DOMException('timed out', 'TimeoutError')],
  [
    'deno',
    'closed',
    new Error('client error (SendRequest): connection closed before message completed'),
  ],
  ['deno', 'reset', new Error('Connection reset by peer (os error 104)')],
  ['deno', 'mTLS', new Error('received fatal alert: CertificateRequired')],
];

test.each(doubts)('connectionOutcome on %s returns unknown for "%s"', (runtime, _, error) => {
  const whole = error instanceof Error ? [error, wrapped(error)] : [error];
  for (const each of whole) {
    expect(connectionOutcome(each, departure(runtime)).outcome).toBe('unknown');
  }
});

test('connectionOutcome on Node returns not_sent only if no request had started', () => {
  for (const error of [connect('ECONNREFUSED'), reset, undefined]) {
    const of = (evidence: { started?: boolean }) =>
      connectionOutcome(error, departure('node'), evidence).outcome;
    expect([of({ started: false }), of({ started: true }), of({})]).toEqual([
      'not_sent',
      'unknown',
      'unknown',
    ]);
  }
});

test('connectionOutcome also reads the cause of an AggregateError', () => {
  const error = Object.assign(new AggregateError([connect('ECONNREFUSED')]), { cause: reset });
  expect(connectionOutcome(error, departure('bun')).outcome).toBe('unknown');
});

test('connectionOutcome returns the first error code among all causes', () => {
  const error = wrapped(new AggregateError([new Error('?'), connect('ENETUNREACH'), reset]));
  expect(connectionOutcome(error, departure('bun')).code).toBe('ENETUNREACH');
  expect(connectionOutcome(wrapped(new Error('?')), departure('bun')).code).toBeUndefined();
});

/** A tree of causes. A leaf is `listed` if its error proves that nothing was sent. */
type Tree =
  | { readonly leaf: Error; readonly listed: boolean }
  | { readonly members: readonly Tree[]; readonly cause: Tree | undefined };

const listedLeaf = fc
  .constantFrom(
    () => connect('ECONNREFUSED'),
    () => failure({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }),
    () => coded('ENETUNREACH'),
    () => coded('CERT_HAS_EXPIRED'),
  )
  .map((make) => ({ leaf: make(), listed: true }));
const unlistedLeaf = fc
  .record({
    code: fc.oneof(
      fc.constantFrom('ECONNRESET', 'EPIPE', 'EPROTO', 'UND_ERR_SOCKET'),
      fc.string().map((text) => `X_${text}`),
    ),
    syscall: fc.constantFrom('read', 'write', undefined),
    message: fc.string().map((text) => `x ${text}`),
  })
  .map(({ code, syscall, message }) => ({
    leaf: failure({ code, message, ...(syscall === undefined ? {} : { syscall }) }),
    listed: false,
  }));
const treeOf = (leaf: fc.Arbitrary<Tree>): fc.Arbitrary<Tree> =>
  fc.letrec<{ tree: Tree }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 12, depthSize: 'small' },
      leaf,
      fc.record({
        members: fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
        cause: fc.option(tie('tree'), { nil: undefined }),
      }),
      fc.record({ members: fc.constant([]), cause: tie('tree') }),
    ),
  })).tree;
const anyTree = treeOf(fc.oneof(listedLeaf, unlistedLeaf));

function toError(tree: Tree): Error {
  if ('leaf' in tree) return tree.leaf;
  const cause = tree.cause === undefined ? {} : { cause: toError(tree.cause) };
  if (tree.members.length === 0) return new TypeError('fetch failed', cause);
  return Object.assign(new AggregateError(tree.members.map(toError)), cause);
}

const allListed = (tree: Tree): boolean =>
  'leaf' in tree
    ? tree.listed
    : tree.members.every(allListed) && (tree.cause === undefined || allListed(tree.cause));

const depthOf = (tree: Tree): number =>
  'leaf' in tree
    ? 0
    : 1 +
      Math.max(...tree.members.map(depthOf), tree.cause === undefined ? 0 : depthOf(tree.cause));

test('connectionOutcome returns unknown if one cause proves nothing', () => {
  fc.assert(
    fc.property(anyTree, (tree) => {
      // A deep tree of listed causes may have either outcome.
      fc.pre(!allListed(tree) || depthOf(tree) <= 8);
      const { outcome } = connectionOutcome(toError(tree), departure('bun'));
      expect(outcome).toBe(allListed(tree) ? 'not_sent' : 'unknown');
    }),
    { numRuns: 500 },
  );
});

test('connectionOutcome stays unknown if an error has one more cause', () => {
  fc.assert(
    fc.property(anyTree, fc.oneof(listedLeaf, unlistedLeaf), (tree, extra) => {
      const before = connectionOutcome(toError(tree), departure('bun')).outcome;
      const grown: Tree =
        'leaf' in tree
          ? { members: [tree, extra], cause: undefined }
          : { ...tree, members: [...tree.members, extra] };
      const after = connectionOutcome(toError(grown), departure('bun')).outcome;
      expect(before === 'unknown' ? after : 'unknown').toBe('unknown');
    }),
    { numRuns: 500 },
  );
});

test('connectionOutcome returns unknown for any thrown value', () => {
  const circular = new Error('round');
  circular.cause = circular;
  const wordless = Object.assign(new Error(), { message: 5, code: 'ECONNRESET' });
  for (const runtime of ['node', 'bun', 'deno', 'other'] as const) {
    expect(connectionOutcome(circular, departure(runtime)).outcome).toBe('unknown');
    expect(connectionOutcome(wordless, departure(runtime)).outcome).toBe('unknown');
    fc.assert(
      fc.property(fc.anything(), fc.dictionary(fc.string(), fc.anything()), (thrown, extra) => {
        for (const error of [thrown, Object.assign(new Error('odd'), { ...extra, code: thrown })]) {
          expect(connectionOutcome(error, departure(runtime)).outcome).toBe('unknown');
        }
      }),
      { numRuns: 200 },
    );
  }
});

test('connectionOutcome returns unknown if causes are nested too deeply', () => {
  let error: Error = reset;
  for (let depth = 0; depth < 20; depth += 1) {
    error = Object.assign(connect('ECONNREFUSED'), { cause: error });
  }
  expect(connectionOutcome(error, departure('bun')).outcome).toBe('unknown');
});

test('a rejected CONNECT is not_sent, without a retry after status 4xx', () => {
  const node = (status: number): Error =>
    Object.assign(new Error('?'), { code: 'ERR_PROXY_TUNNEL', statusCode: status });
  const unsent = { started: false };
  expect(connectionOutcome(wrapped(node(407)), departure('node'), unsent)).toMatchObject({
    outcome: 'not_sent',
    transient: false,
    obstacle: 'proxy',
  });
  expect(connectionOutcome(wrapped(node(502)), departure('node'), unsent).transient).toBe(true);
  const bun = Object.assign(new Error('Proxy refused to open a tunnel: 403 Forbidden'), {
    code: 'ERR_PROXY_TUNNEL',
  });
  expect(connectionOutcome(bun, departure('bun'))).toMatchObject({
    outcome: 'not_sent',
    transient: false,
    obstacle: 'proxy',
  });
  expect(connectionOutcome(bun, departure('other')).outcome).toBe('unknown');
});
