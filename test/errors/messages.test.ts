import {
  AbortError,
  ApiError,
  AuthenticationError,
  BadRequestError,
  ConfigurationError,
  ConflictError,
  ConnectionError,
  InvalidResponseError,
  NotFoundError,
  PaginationError,
  PermissionDeniedError,
  RateLimitError,
  ServerError,
  TimeoutError,
  UnprocessableEntityError,
  ValidationError,
  WaitError,
  type PaymentsClient,
  type PaymentsError,
} from 'payments-platform-sdk';
import { describe, expect, test, vi } from 'vitest';
import { clientAt, clientOf, failureOf, respond } from '../support/clients.ts';
import { closedPort } from '../support/closed-port.ts';
import { rawServer } from '../support/raw-server.ts';
import { address, errorBody, html, newTransfer, page, transfer } from '../support/values.ts';
import { flushPromises, VirtualClock } from '../support/virtual-clock.ts';

/** A client that receives the same response every time. */
const received = (
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): PaymentsClient => clientOf(() => respond(status, body, headers), { maxRetries: 0 }).payments;

const htmlHeaders = { 'content-type': 'text/html' };

/** A message without the start time and the port. */
const timeless = ({ message, startedAt = 'never' }: PaymentsError): string =>
  message.replaceAll(startedAt, '<startedAt>').replaceAll(/127.0.0.1:\d{2,}/g, '<host>');

describe('the message of', () => {
  test('ConfigurationError quotes the error of the credential function', async () => {
    const { payments } = clientOf(() => respond(200), {
      apiKey: () => Promise.reject(new Error('vault')),
    });
    const error = await failureOf(payments.transfers.create(newTransfer), ConfigurationError);
    expect(timeless(error)).toMatchInlineSnapshot(`
      "The function in the option apiKey failed: vault.
      Nothing was sent.
      Request: POST https://api.example.com/v0/transfers (transfers.create)."
    `);
  });

  test('ValidationError lists every mistake', async () => {
    const input = { ...newTransfer, amount: 12.5 as unknown as string, curency: 'USDC' };
    const error = await failureOf(received(201, {}).transfers.create(input), ValidationError);
    expect(timeless(error)).toMatchInlineSnapshot(`
      "2 invalid arguments in transfers.create:
        amount: got 12.5; expected a decimal string above zero, such as "12.50". Write it as a string: a number loses digits, as 0.1 + 0.2 is 0.30000000000000004
        curency: unknown field; did you mean currency?
      Nothing was sent."
    `);
  });

  test('ApiError for a redirected creation mentions a proxy', async () => {
    const error = await failureOf(received(302, undefined).transfers.create(newTransfer), ApiError);
    expect(timeless(error)).toMatchInlineSnapshot(`
      "api.example.com responded with 302, a redirect.
      A proxy may have replaced the platform's response. Redirects are not followed. Check the base URL (option baseUrl or PAYMENTS_BASE_URL).
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>."
    `);
  });

  test('BadRequestError advises against sending the request again unchanged', async () => {
    const call = received(400, errorBody, { 'x-request-id': 'req_1' }).transfers.create(
      newTransfer,
    );
    expect((await failureOf(call, BadRequestError)).message).toMatchInlineSnapshot(`
      "The platform responded with 400 (refused): No.
      Fix the request; error.details may name the field.
      It did not take effect.
      Request: POST https://api.example.com/v0/transfers (transfers.create), request req_1."
    `);
  });

  test('AuthenticationError names the credential that was sent', async () => {
    const call = received(401, errorBody).transfers.get('txfr_1');
    expect((await failureOf(call, AuthenticationError)).message).toMatchInlineSnapshot(`
      "The platform responded with 401 (refused): No.
      Check the API key (option apiKey): is it correct, and does it belong to this platform?
      Request: GET https://api.example.com/v0/transfers/{id} (transfers.get)."
    `);
  });

  test('AuthenticationError for a write names the option isErrorBody if a proxy may have sent the 401', async () => {
    const call = received(401, html, htmlHeaders).transfers.create(newTransfer);
    expect((await failureOf(call, AuthenticationError)).message).toContain(
      'option platform.isErrorBody',
    );
  });

  test('PermissionDeniedError for an HTML page quotes its text', async () => {
    const call = received(403, html, htmlHeaders).transfers.get('txfr_1');
    expect((await failureOf(call, PermissionDeniedError)).message).toMatchInlineSnapshot(`
      "api.example.com responded with 403 (text/html); expected the platform's Error body.
      The credential does not permit this, or a proxy or firewall rejected the request.
      Message: Bad gateway
      Request: GET https://api.example.com/v0/transfers/{id} (transfers.get)."
    `);
  });

  test('NotFoundError advises the caller to check the id', async () => {
    const call = received(404, errorBody).counterparties.delete('cpty_1');
    expect((await failureOf(call, NotFoundError)).message).toMatchInlineSnapshot(`
      "The platform responded with 404 (refused): No.
      Check the id, and that the credential belongs to the platform that issued the id.
      It did not take effect.
      Request: DELETE https://api.example.com/v0/counterparties/{id} (counterparties.delete)."
    `);
  });

  test('ConflictError advises the caller to read the current state', async () => {
    const call = received(409, errorBody).accounts.update('acc_1', { name: 'x' });
    expect((await failureOf(call, ConflictError)).message).toMatchInlineSnapshot(`
      "The platform responded with 409 (refused): No.
      Read the current state before you try again.
      It did not take effect.
      Request: PATCH https://api.example.com/v0/accounts/{id} (accounts.update)."
    `);
  });

  test('UnprocessableEntityError shows the code of the platform', async () => {
    const body = { error: 'Insufficient funds', code: 'insufficient_funds', details: null };
    const call = received(422, body).transfers.create(newTransfer);
    expect((await failureOf(call, UnprocessableEntityError)).message).toMatchInlineSnapshot(`
      "The platform responded with 422 (insufficient_funds): Insufficient funds.
      Fix the cause, such as a low balance, and send the request again. See error.details.
      It did not take effect.
      Request: POST https://api.example.com/v0/transfers (transfers.create)."
    `);
  });

  test('RateLimitError shows how long to wait', async () => {
    const { payments } = clientOf(() => respond(429, errorBody, { 'retry-after': '3600' }));
    const error = await failureOf(payments.transfers.create(newTransfer), RateLimitError);
    expect(timeless(error)).toMatchInlineSnapshot(`
      "The platform responded with 429 (refused): No.
      Send fewer requests, or wait for 3600000 ms (retryAfterMs).
      It was not retried: the platform asked for a wait of 3600000 ms, and the SDK waits 60000 ms at most.
      It did not take effect.
      Request: POST https://api.example.com/v0/transfers (transfers.create)."
    `);
    const silent = clientOf(() => respond(429, errorBody), { maxRetries: 0 }).payments;
    const other = await failureOf(silent.transfers.create(newTransfer), RateLimitError);
    expect(other.message.split('\n')).toContain('Send fewer requests.');
  });

  test('ServerError for a creation says how to reconcile the creation', async () => {
    const error = await failureOf(
      received(502, html, htmlHeaders).transfers.create(newTransfer),
      ServerError,
    );
    expect(timeless(error)).toMatchInlineSnapshot(`
      "api.example.com responded with 502 (text/html); expected the platform's Error body.
      A proxy may have replaced the platform's response.
      Message: Bad gateway
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>."
    `);
  });

  test('ServerError for a read shows the number of attempts', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const { payments } = clientOf(() => respond(503, undefined));
    const error = await failureOf(payments.transfers.get('txfr_1'), ServerError);
    expect(timeless(error)).toMatchInlineSnapshot(`
      "api.example.com responded with 503 (no body); expected the platform's Error body.
      A read changes nothing: try again.
      Request: GET https://api.example.com/v0/transfers/{id} (transfers.get), 3 attempts."
    `);
  });

  test('ConnectionError for a refused connection says that nothing was sent', async () => {
    const payments = clientAt(closedPort, { maxRetries: 0 });
    const error = await failureOf(payments.transfers.create(newTransfer), ConnectionError);
    expect(error.message).toMatchInlineSnapshot(`
      "The connection to 127.0.0.1:2 failed (ECONNREFUSED).
      Nothing listens there. Check the base URL (option baseUrl or PAYMENTS_BASE_URL).
      Nothing was sent.
      Request: POST http://127.0.0.1:2/v0/transfers (transfers.create)."
    `);
  });

  test('ConnectionError of a creation reports an unknown outcome', async () => {
    const server = await rawServer(({ reply }) => {
      reply('');
    });
    const call = clientAt(server).counterparties.delete('cpty_1');
    expect(timeless(await failureOf(call, ConnectionError))).toMatchInlineSnapshot(`
      "The connection to <host> failed (ECONNRESET): socket hang up.
      Outcome unknown: the Counterparty may be deleted, and pending Transfers to it failed. payments.counterparties.get(id) throws NotFoundError if it is.
      Request: DELETE http://<host>/v0/counterparties/{id} (counterparties.delete), started <startedAt>."
    `);
  });

  test('TimeoutError names the phase in which the time ran out', async () => {
    const never = <T>(): Promise<T> => new Promise(() => undefined);
    const stall = (): Response =>
      new Response(
        new ReadableStream({
          start(body) {
            body.enqueue(new Uint8Array(1));
          },
        }),
      );
    const messages: Record<string, string> = {};
    for (const [fetch, options] of [
      [never<Response>, { maxRetries: 0 }],
      [stall, { maxRetries: 0 }],
      [never<Response>, { totalTimeout: 10_000 }],
      [never<Response>, { apiKey: () => never<string>() }],
    ] as const) {
      const clock = new VirtualClock();
      const { payments } = clientOf(fetch, { clock, timeout: 30_000, ...options });
      const call = failureOf(payments.transfers.create(newTransfer), TimeoutError);
      const error = await clock.runTimersDuring(call);
      messages[error.phase] = timeless(error);
    }
    expect(messages).toMatchInlineSnapshot(`
      {
        "body": "The platform started to respond but did not finish within 30000 ms (option timeout).
      The status shows that the platform accepted the call.
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>.",
        "credential": "The credential function did not return within 30000 ms.
      Check the function in the option apiKey.
      Nothing was sent.
      Request: POST https://api.example.com/v0/transfers (transfers.create).",
        "headers": "The platform did not respond within 30000 ms (option timeout).
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>.",
        "total": "The call did not finish within 10000 ms (option totalTimeout).
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>.",
      }
    `);
  });

  test('RateLimitError for a call that was not sent because of an earlier 429 mentions that 429', async () => {
    const { payments } = clientOf(() => respond(429, errorBody, { 'retry-after': '50' }), {
      maxRetries: 0,
      clock: new VirtualClock(),
    });
    await failureOf(payments.transfers.get('txfr_1'), RateLimitError);
    const call = payments.transfers.create(newTransfer, { totalTimeout: 1_000 });
    expect((await failureOf(call, RateLimitError)).message).toMatchInlineSnapshot(`
      "The platform asked this client to slow down (429), and this call may not wait so long.
      Call again in 50000 ms (retryAfterMs).
      Nothing was sent.
      Request: POST https://api.example.com/v0/transfers (transfers.create)."
    `);
  });

  test('AbortError reports the outcome', async () => {
    const controller = new AbortController();
    const { payments } = clientOf(() => new Promise(() => undefined));
    const { signal } = controller;
    const call = failureOf(
      payments.settings.update({ defaultChain: 'base' }, { signal }),
      AbortError,
    );
    await flushPromises();
    controller.abort();
    expect(timeless(await call)).toMatchInlineSnapshot(`
      "The call was aborted by its signal.
      error.cause holds the reason.
      Outcome unknown: the Settings may have been changed, and cannot be read. Send the same change again, unless another process may have changed them.
      Request: PATCH https://api.example.com/v0/platform/settings (settings.update), started <startedAt>."
    `);
  });

  test('AbortError says if the signal timed out, and does not contain the text of the reason', async () => {
    const { payments } = clientOf(() => new Promise(() => undefined));
    const reasons = [new DOMException('sk_live_1', 'TimeoutError'), new Error('sk_live_1')];
    const messages = reasons.map(async (reason) => {
      const signal = AbortSignal.abort(reason);
      const error = await failureOf(payments.accounts.get('acc_1', { signal }), AbortError);
      return error.message.split('\n')[0];
    });
    expect(await Promise.all(messages)).toEqual([
      'The call was aborted by its signal, which timed out.',
      'The call was aborted by its signal.',
    ]);
  });

  test('InvalidResponseError quotes the response', async () => {
    const write = received(201, html).transfers.create(newTransfer);
    expect(timeless(await failureOf(write, InvalidResponseError))).toMatchInlineSnapshot(`
      "The platform responded with 201, but its response is not JSON.
      The status shows that the platform accepted the call.
      Outcome unknown: the transfer may have taken effect. Do not send it again: ask payments.transfers.reconcile(input, { since: firstTry }); not_found counts only after some minutes.
      Request: POST https://api.example.com/v0/transfers (transfers.create), started <startedAt>."
    `);
    const read = received(200, { ...transfer, amount: 5 }).transfers.get('txfr_1');
    expect((await failureOf(read, InvalidResponseError)).message).toMatchInlineSnapshot(`
      "The platform responded with 200 and an undocumented amount: got a number; expected a string.
      Request: GET https://api.example.com/v0/transfers/{id} (transfers.get)."
    `);
    const root = received(200, { instructions: [] }).instructions.list({ address });
    expect((await failureOf(root, InvalidResponseError)).message).toMatchInlineSnapshot(`
      "The platform responded with 200 and an undocumented response: got an object; expected an array.
      Request: GET https://api.example.com/instructions/all (instructions.list)."
    `);
  });

  test('PaginationError says how to resume the list', async () => {
    const lost = received(200, page([transfer], null, true))
      .transfers.list()
      .toArray({ max: 5 });
    expect((await failureOf(lost, PaginationError)).message).toMatchInlineSnapshot(`
      "The platform reported that more items follow but returned no cursor for them.
      The items so far are valid; error.resume says where the list broke off.
      Request: GET /transfers (transfers.list), items returned: 1."
    `);
    const round = received(200, page([transfer], 'c1'))
      .transfers.list()
      .toArray({ max: 5 });
    expect((await failureOf(round, PaginationError)).message).toMatchInlineSnapshot(`
      "The platform returned a cursor that this list has already used.
      The items so far are valid; error.resume says where the list broke off.
      Request: GET /transfers (transfers.list), items returned: 2."
    `);
  });

  test('WaitError shows the last status of the transfer', async () => {
    const call = received(200, { ...transfer, status: 'failed' }).transfers.waitFor('txfr_1');
    expect((await failureOf(call, WaitError)).message).toMatchInlineSnapshot(
      `"The transfer txfr_1 ended as failed; the money did not arrive."`,
    );
  });
});
