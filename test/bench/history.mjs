/*
 * A platform with any number of old transfers of the source account. The old transfers are made
 * while they are read, so that a million takes no memory. New transfers come first or last.
 */

const day = 86_400_000;

let platforms = 0;

/** The platform as a `fetch`; `requests` counts what it receives. */
export function createPlatform({
  history,
  newestFirst = true,
  now = () => Date.now(),
  wait,
  describe = (age) => `payroll-old-${String(age).padStart(7, '0')}`,
}) {
  const made = [];
  platforms += 1;
  // Two platforms have different ids, because a journal notices an id that it has.
  const prefix = `txfr_new${platforms}x`;
  const counts = { requests: 0, lists: 0 };
  /** The transfer at a place of the list. */
  const itemAt = (place) => {
    const newPlace = newestFirst ? place : place - history;
    if (newPlace >= 0 && newPlace < made.length) {
      return made[newestFirst ? made.length - 1 - place : newPlace];
    }
    const age = newestFirst ? place - made.length : history - 1 - place;
    return {
      id: `txfr_old${age}`,
      status: 'completed',
      type: 'onchain_transfer',
      // Not at midnight, which may stand for a whole day.
      createdAt: new Date(now() - day - age * 60_000 - 30_500).toISOString(),
      sourceAccountId: 'acc_000001',
      destinationAccountId: 'acc_000002',
      amount: '1.00',
      currency: 'USDC',
      direction: 'outgoing',
      description: describe(age),
    };
  };
  const respond = (body, status = 200) =>
    Response.json(body, { status, headers: { date: new Date(now()).toUTCString() } });
  const fetch = async (request, init) => {
    counts.requests += 1;
    const { pathname, searchParams } = new URL(typeof request === 'string' ? request : request.url);
    const method = init?.method ?? request.method ?? 'GET';
    if (method === 'POST') {
      const body = init?.body ?? (await request.text());
      const id = `${prefix}${made.length}`;
      const transfer = { ...itemAt(made.length + history + 1), ...JSON.parse(body), id };
      made.push({ ...transfer, status: 'pending', createdAt: new Date(now()).toISOString() });
      return respond(made.at(-1), 201);
    }
    const [, id] = /transfers\/(.+)$/.exec(pathname) ?? [];
    if (id !== undefined) return respond(made[Number(id.slice(prefix.length))]);
    counts.lists += 1;
    await wait?.();
    const start = Number(searchParams.get('cursor') ?? 0);
    const total = made.length + history;
    const end = Math.min(total, start + Number(searchParams.get('limit')));
    const data = Array.from({ length: end - start }, (_, at) => itemAt(start + at));
    const hasMore = end < total;
    return respond({ data, hasMore, nextCursor: hasMore ? String(end) : null });
  };
  return { fetch, counts, made };
}
