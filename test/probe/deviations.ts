import { isList, pathOf, withHeaders, withJson, withRecords, type Deviation } from './platforms.ts';

/** A platform that differs from the sandbox, and what the probe has to report of it. */
export interface DeviatingPlatform {
  readonly name: string;
  readonly respond: Deviation;
  /** The rows that differ from those of the sandbox, by the start of their question. */
  readonly rows: Readonly<Record<string, string>>;
  readonly options?: Readonly<Record<string, unknown>>;
  readonly advice?: readonly RegExp[];
}

/** Passes creations on with another description. */
const storeDescription =
  (change: (description: string) => string): Deviation =>
  async (request, next) => {
    if (request.method !== 'POST') return next();
    const body = (await request.json()) as { description: string };
    const changedBody = { ...body, description: change(body.description) };
    return next(new Request(request.url, { ...pick(request), body: JSON.stringify(changedBody) }));
  };
const pick = ({ method, headers }: Request) => ({ method, headers });

const changeErrors =
  (change: (body: Record<string, unknown>, status: number) => unknown): Deviation =>
  async (_, next) => {
    const response = await next();
    if (response.ok) return response;
    return withJson(response, (body) => change(body, response.status));
  };

const mainFilter = '6 Does GET /transfers filter by accountId?';
const errorBody = '50 Do errors have the documented Error body?';
const description = '60 Does a description come back unchanged?';
const createdAt = '64 Is createdAt a time with an offset, and not in the future?';
const createdAtOfPayment = '64 Is createdAt of a new transfer close to the Date of its response?';
const order = '54 In which order are transfers listed?';
const wholeness = '59 Does the list of transfers show each one, and end?';
const listed = '61 How soon is a new transfer listed?';

const shiftTime = (record: Record<string, unknown>, ms: number, end: string) => {
  const time = new Date(Date.parse(String(record['createdAt'])) + ms).toISOString();
  return { ...record, createdAt: time.replace('Z', end) };
};

/** Responses of a cache by their URL. */
const pages = new WeakMap<object, Map<string, { text: string; at: number }>>();

const idempotency = '51 Is Idempotency-Key honoured?';
const anotherAmount = 'found: Ignored: another amount with the same key made a second transfer.';
const keys = new WeakMap<object, Map<string, { text: string; body: string }>>();

interface Identity {
  readonly key: string;
  readonly body: string;
  readonly description: string;
  readonly accounts: string;
}

/** Makes one transfer for each identity, and responds to a second creation with the first, or with a rejection. */
export const recognise =
  (
    identify: (identity: Identity) => string,
    rejection?: { status: number; isFor: (made: string, now: string) => boolean },
    makesAnother = false,
  ): Deviation =>
  async (request, next, clock) => {
    const key = request.headers.get('idempotency-key');
    if (key === null) return next();
    const body = await request.clone().text();
    const { description, sourceAccountId, destinationAccountId } = JSON.parse(body) as Record<
      'description' | 'sourceAccountId' | 'destinationAccountId',
      string
    >;
    const accounts = `${sourceAccountId} ${destinationAccountId}`;
    const identity = identify({ key, body, description, accounts });
    const made = keys.get(clock) ?? new Map<string, { text: string; body: string }>();
    keys.set(clock, made);
    const first = made.get(identity);
    const headers = { date: new Date(clock.now()).toUTCString() };
    if (first === undefined) {
      const response = await next();
      if (response.ok) made.set(identity, { text: await response.clone().text(), body });
      return response;
    }
    if (makesAnother) await next();
    return rejection?.isFor(first.body, body) === true
      ? Response.json({ error: 'No.', code: 'no' }, { status: rejection.status, headers })
      : new Response(first.text, { status: 201, headers });
  };

const nginxPage =
  '<html>\r\n<head><title>404 Not Found</title></head>\r\n<body>nginx</body></html>';

export const deviatingPlatforms: readonly DeviatingPlatform[] = [
  {
    name: 'filters that it ignores',
    respond(request, next) {
      const url = new URL(request.url);
      url.searchParams.delete('accountId');
      return next(new Request(url, request));
    },
    rows: { [mainFilter]: 'contradicted: Ignored.' },
    options: { transfersFilter: false },
  },
  {
    name: 'a filter by accountId that hides the transfers from the account',
    // The filter shows the transfers to an account, and hides the transfers from the account.
    async respond(request, next) {
      const account = new URL(request.url).searchParams.get('accountId');
      if (account === null || pathOf(request) !== '/v0/transfers') return next();
      return withJson(await next(), ({ data, ...body }) => ({
        ...body,
        data: (data as Record<string, unknown>[]).filter(
          ({ destinationAccountId }) => destinationAccountId === account,
        ),
      }));
    },
    rows: {
      [mainFilter]: 'contradicted: Hides transfers.',
      [listed]: 'unknown: It was not seen in the list.',
    },
    options: { transfersFilter: false },
  },
  {
    name: 'a filter by accountId that it rejects',
    respond: (request, next) =>
      pathOf(request) === '/v0/transfers' && new URL(request.url).searchParams.has('accountId')
        ? Response.json({ error: 'No such filter.', code: 'bad_query' }, { status: 400 })
        : next(),
    rows: { [mainFilter]: 'contradicted: Rejected with 400 bad_query.' },
    options: { transfersFilter: false },
  },
  {
    name: 'an undocumented Error body',
    // Two of the errors have another field.
    respond: changeErrors(({ error, code }, status) => ({
      message: error,
      statusCode: status,
      ...(/entity|account/.test(String(code)) ? { trace: 'x' } : {}),
    })),
    rows: {
      [errorBody]: 'contradicted: No, they have { message, statusCode }.',
    },
    options: {
      isErrorBody:
        "(body) => typeof Object(body).message === 'string' && typeof Object(body).statusCode === 'number'",
    },
  },
  {
    name: 'an Error body inside another object',
    respond: changeErrors(({ error, code }) => ({ error: { message: error, code } })),
    rows: {
      [errorBody]: 'contradicted: No, they have { error.message, error.code }.',
    },
    options: {
      isErrorBody:
        "(body) => typeof Object(body).error?.message === 'string' && typeof Object(body).error?.code === 'string'",
    },
  },
  {
    name: 'an Error body of one field, as gateways send it',
    respond: changeErrors(({ error }) => ({ message: error })),
    rows: {
      [errorBody]: 'contradicted: No, they have { message }.',
    },
    advice: [/^a rejected payment counts as unknown/],
  },
  {
    name: 'a 404 page of nginx',
    async respond(_, next) {
      const response = await next();
      if (response.status !== 404) return response;
      const headers = { 'content-type': 'text/html', server: 'nginx/1.26.0' };
      return withHeaders(new Response(nginxPage, { status: 404 }), headers);
    },
    rows: {
      [errorBody]: 'contradicted: No, they have text/html, JSON without a common field.',
    },
    advice: [/^a rejected payment counts as unknown/],
  },
  {
    name: 'descriptions that it cuts and turns into capitals',
    respond: storeDescription((text) => text.slice(0, 35).toUpperCase()),
    rows: { [description]: 'contradicted: It comes back changed.' },
    advice: [/^createOnce cannot find such a payment, or/],
  },
  {
    name: 'lists that leave out descriptions',
    async respond(request, next) {
      if (!isList(request)) return next();
      return withRecords(await next(), (record) => ({ ...record, description: undefined }));
    },
    rows: { [description]: 'contradicted: It comes back changed.' },
  },
  {
    name: 'createdAt in local time without an offset',
    respond: async (_, next) =>
      withRecords(await next(), (record) => shiftTime(record, 7_200_000, '')),
    rows: {
      [createdAt]: 'contradicted: Without an offset.',
      [createdAtOfPayment]: 'contradicted: createdAt is in local time, or another clock wrote it.',
      [order]: 'unknown: createdAt shows no order.',
    },
  },
  {
    name: 'createdAt in a local time behind UTC, as if it were UTC',
    respond: async (_, next) =>
      withRecords(await next(), (record) => shiftTime(record, -5 * 3_600_000, 'Z')),
    rows: {
      [createdAtOfPayment]: 'contradicted: createdAt is in local time, or another clock wrote it.',
    },
  },
  {
    name: 'createdAt in a local time ahead of UTC, as if it were UTC',
    respond: async (_, next) =>
      withRecords(await next(), (record) => shiftTime(record, 2 * 3_600_000, 'Z')),
    rows: {
      [createdAt]: 'contradicted: In the future.',
      [createdAtOfPayment]: 'contradicted: createdAt is in local time, or another clock wrote it.',
    },
  },
  {
    name: 'lists from a cache',
    async respond(request, next, clock) {
      if (!isList(request)) return next();
      const cache = pages.get(clock) ?? new Map<string, { text: string; at: number }>();
      pages.set(clock, cache);
      const page = cache.get(request.url);
      if (page !== undefined && clock.now() - page.at < 60_000) {
        const age = String(Math.floor((clock.now() - page.at) / 1_000) + 1);
        const headers = { 'content-type': 'application/json', age };
        const date = new Date(clock.now()).toUTCString();
        return new Response(page.text, { headers: { ...headers, date, 'x-request-id': 'cached' } });
      }
      const response = await next();
      cache.set(request.url, { text: await response.clone().text(), at: clock.now() });
      return response;
    },
    rows: {
      '65 Do lists come fresh, not from a cache?': 'contradicted: A cache has responded.',
      [listed]: 'found: After more than 10 seconds.',
    },
    advice: [/^exclude the API from the cache/],
  },
  {
    name: 'an Idempotency-Key that it honours',
    respond: recognise(({ key }) => key),
    rows: { [idempotency]: 'found: Honoured.' },
    options: { idempotencyHeader: 'Idempotency-Key' },
  },
  {
    name: 'an Idempotency-Key that it honours, and a 409 if the terms of the payment differ',
    respond: recognise(({ key }) => key, { status: 409, isFor: (made, now) => made !== now }),
    rows: { [idempotency]: 'found: Honoured.' },
    options: { idempotencyHeader: 'Idempotency-Key' },
  },
  {
    name: 'an Idempotency-Key that it honours, and a 422 if the terms of the payment differ',
    respond: recognise(({ key }) => key, { status: 422, isFor: (made, now) => made !== now }),
    rows: { [idempotency]: 'found: Honoured.' },
    options: { idempotencyHeader: 'Idempotency-Key' },
  },
  {
    name: 'a 409 to an equal request with the same Idempotency-Key',
    respond: recognise(({ key }) => key, { status: 409, isFor: () => true }),
    rows: {
      [idempotency]: 'found: Not honoured: an equal request with the same key was rejected.',
    },
  },
  {
    name: 'a rule that takes an equal payment for a duplicate, whatever its Idempotency-Key is',
    respond: recognise(({ body }) => body),
    rows: { [idempotency]: anotherAmount },
  },
  {
    name: 'a rule that takes a payment with the same description for a duplicate',
    respond: recognise(({ description }) => description),
    rows: { [idempotency]: anotherAmount },
  },
  {
    name: 'a rule that takes a payment between the same accounts for a duplicate',
    respond: recognise(({ accounts }) => accounts),
    rows: {
      [idempotency]: 'unknown: Unclear: a request with another key made no other transfer.',
    },
  },
  {
    name: 'a rule that takes an equal payment for a duplicate, and a limit of amounts',
    async respond(request, next, clock) {
      if (request.method === 'POST' && (await request.clone().text()).includes('"0.02"')) {
        return Response.json({ error: 'Too much.', code: 'limit' }, { status: 422 });
      }
      return recognise(({ body }) => body)(request, next, clock);
    },
    rows: {
      [idempotency]: 'unknown: Unclear: a request with another key made no other transfer.',
    },
  },
  {
    name: 'a second transfer for the same Idempotency-Key, under the id of the first',
    respond: recognise(({ key }) => key, undefined, true),
    rows: {
      [idempotency]: 'found: Not honoured: the list has a transfer that no response named.',
    },
  },
  {
    name: 'an unclear response to another amount with the same Idempotency-Key',
    async respond(request, next) {
      const isOther = request.method === 'POST' && (await request.clone().text()).includes('other');
      return isOther ? new Response('', { status: 502 }) : next();
    },
    rows: { [idempotency]: 'unknown: Unclear: a request with the same key failed.' },
  },
  {
    name: 'a last page with a cursor',
    respond: async (request, next) => {
      const response = await next();
      if (!isList(request)) return response;
      return withJson(response, (body) =>
        body['hasMore'] === false ? { ...body, nextCursor: 'bW9yZQ' } : body,
      );
    },
    rows: { [wholeness]: 'contradicted: No: hasMore is false, and there is a nextCursor.' },
    advice: [/^createOnce stays in doubt where it has to search such a list/],
  },
  {
    name: 'a list that loses a transfer at the end of each page',
    respond: async (request, next) => {
      const response = await next();
      if (!isList(request)) return response;
      return withJson(response, ({ data, ...body }) => ({
        ...body,
        data: (data as unknown[]).slice(0, body['hasMore'] === true ? -1 : undefined),
      }));
    },
    rows: { [wholeness]: 'contradicted: No: pages of another size show 1 other transfer.' },
    advice: [/^createOnce stays in doubt/],
  },
  {
    name: 'responses that are slow and have no Date',
    respond: async (_, next, clock) => {
      const response = await next();
      clock.jump(16_000);
      response.headers.delete('date');
      return response;
    },
    rows: {
      '64 Do responses have a Date, and how far off is it?':
        'contradicted: Not all responses have a Date.',
      [createdAtOfPayment]: 'unknown: Its response has no Date.',
      [listed]: 'found: After more than 10 seconds.',
    },
  },
];
