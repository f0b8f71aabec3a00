import fc from 'fast-check';
import { PaymentsClient, ValidationError, type AnyRequest } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { nounTable } from '../../src/internal/formats.ts';
import { clientOf, recorder } from '../support/clients.ts';
import { endpoints, invoke } from '../support/interface.ts';
import { newTransfer } from '../support/values.ts';
import { whichFail } from '../support/which-fail.ts';
import { rejection } from './invalid-arguments.ts';

/** The mistakes that every kind of id rejects. */
const wrong = (prefix: string): readonly (readonly [string, unknown])[] => [
  ['an empty text', ''],
  ['the prefix alone', prefix],
  ['no prefix', '000001'],
  ['another prefix', prefix === 'acc_' ? 'ent_1' : 'acc_1'],
  ['the prefix in capitals', `${prefix.toUpperCase()}1`],
  ['something before the prefix', `x${prefix}1`],
  ['a dot', '.'],
  ['two dots', '..'],
  ['a way up', `${prefix}1/../../x`],
  ['a way up at once', `../${prefix}1`],
  ['a slash', `${prefix}1/2`],
  ['a slash at the end', `${prefix}1/`],
  ['a backslash', `${prefix}1\\2`],
  ['a question mark', `${prefix}1?limit=1`],
  ['a hash', `${prefix}1#2`],
  ['a percent sign', `${prefix}1%2f`],
  ['a space inside', `${prefix}1 2`],
  ['a space before', ` ${prefix}1`],
  ['a space behind', `${prefix}1 `],
  ['a line break', `${prefix}1\n`],
  ['a tab', `${prefix}\t1`],
  ['a null character', `${prefix}1\0`],
  ['a delete character', `${prefix}1\u007f`],
  ['a no-break space', `${prefix}1\u00a0`],
  ['a line separator', `${prefix}1\u2028`],
  ['the first half of a pair', `${prefix}\ud83e`],
  ['the second half of a pair', `${prefix}\udd8a1`],
  ['257 characters', `${prefix}${'1'.repeat(257 - prefix.length)}`],
  ['nothing', undefined],
  ['null', null],
  ['a number', 5],
  ['a bigint', 5n],
  ['a boolean', true],
  ['a list', [`${prefix}1`]],
  ['an object with a text of its own', { toString: () => `${prefix}1` }],
  ['a String object', new String(`${prefix}1`)],
  ['a symbol', Symbol(`${prefix}1`)],
  ['a function', () => `${prefix}1`],
];

/** Every place that takes an id: in a path, in a query and in a body. */
interface Place {
  readonly name: string;
  readonly prefix: string;
  readonly path: string;
  readonly required: boolean;
  send(payments: PaymentsClient, id: unknown): PromiseLike<unknown>;
}
/** The prefix of the ids of a noun such as `accounts`, or of a field such as `sourceAccountId`. */
function prefixOf(nounOrField: string): string {
  const row = Object.entries(nounTable).find(
    ([noun, { name }]) =>
      noun === nounOrField ||
      nounOrField.toLowerCase().endsWith(`${name.toLowerCase().split(' ')[1]}id`),
  );
  if (row === undefined) throw new Error(`no id is that of ${nounOrField}`);
  return row[1].prefix;
}
const inPaths: readonly Place[] = [
  ...endpoints.filter(({ path }) => path.includes('{id}')).map(({ operation }) => operation),
  'transfers.waitFor',
].map((operation) => ({
  name: operation,
  prefix: prefixOf(operation.split('.')[0] ?? ''),
  path: 'id',
  required: true,
  send: (payments, id) =>
    invoke(payments, operation, operation === 'accounts.update' ? [id, { name: 'x' }] : [id]),
}));
const requiredFields = new Set(['accounts.create entityId', 'transfers.create sourceAccountId']);
const { destinationAccountId: _, ...nowhere } = newTransfer;
const inFields = endpoints.flatMap(({ operation, base, query, body }) =>
  [...query, ...body]
    .filter((field) => base === 'versioned' && field.endsWith('Id'))
    .map((field): Place => {
      const transfer = field === 'counterpartyId' ? nowhere : newTransfer;
      const rest = operation === 'transfers.create' ? transfer : {};
      return {
        name: `${operation} (${field})`,
        prefix: prefixOf(field),
        path: field,
        required: requiredFields.has(`${operation} ${field}`),
        send: (payments, id) => invoke(payments, operation, [{ ...rest, [field]: id }]),
      };
    }),
);

test('these tests cover ids in paths and in fields', () => {
  const names = [...inPaths, ...inFields].map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'accounts.update',
      'counterparties.delete',
      'transfers.waitFor',
      'ibans.list (accountId)',
      'transfers.create (counterpartyId)',
    ]),
  );
  expect(names.length).toBeGreaterThanOrEqual(17);
});

test.each([...inPaths, ...inFields])(
  '$name accepts only ids of its resource',
  async ({ prefix, path, required, send }) => {
    // An optional field may be undefined.
    const rows = wrong(prefix).filter(([, id]) => required || id !== undefined);
    const accepted = await whichFail(rows, async (id) => {
      const error = await rejection((payments) => send(payments, id));
      expect(error.issues.map((issue) => issue.path)).toContain(path);
    });
    expect(accepted).toEqual([]);
  },
);

test.each([...inPaths, ...inFields])('$name accepts an id of 256 characters', async (place) => {
  const { payments, requests } = clientOf(() => new Response('{}', { status: 401 }));
  const id = `${place.prefix}${'1'.repeat(256 - place.prefix.length)}`;
  await Promise.resolve(place.send(payments, id)).catch(() => undefined);
  expect(requests).toHaveLength(1);
  expect(`${requests[0]?.url}${requests[0]?.body}`).toContain(id);
});

test.each([
  ['accounts.get', "an Account's, acc_…", 'ent_1', 'an Entity'],
  ['counterparties.get', "a Counterparty's, cpty_…", 'acc_1', 'an Account'],
  ['entities.get', "an Entity's, ent_…", 'txfr_1', 'a Transfer'],
  ['ibans.get', "an IBAN's, iban_…", 'cpty_1', 'a Counterparty'],
  ['transfers.get', "a Transfer's, txfr_…", 'iban_1', 'an IBAN'],
])('the error of %s names the kind of the rejected id', async (operation, expected, id, noun) => {
  const error = await rejection((payments) => invoke(payments, operation, [id]));
  expect(error.issues).toEqual([
    { path: 'id', message: `"${id}" is the id of ${noun}; expected ${expected}` },
  ]);
});

test('the error for an invalid id does not show it', async () => {
  const describe = async (id: unknown) => {
    const error = await rejection((payments) => invoke(payments, 'accounts.get', [id]));
    return error.issues[0]?.message;
  };
  const rows = [
    ['', 'got ""; expected the id of an Account, acc_…'],
    ['hunter2', 'got a string; expected the id of an Account, acc_…'],
    ['sk_live_51H', 'got a string; expected the id of an Account, acc_…'],
    ['txfr_sk_live_51H', '"txfr_…" is the id of a Transfer; expected an Account\'s, acc_…'],
    ['acc_1/2', 'contains "/"; expected acc_ and letters or digits'],
    [
      `acc_${'1'.repeat(300)}`,
      'has an invalid length or character; expected acc_ and letters or digits',
    ],
    ['0a0b0c0d-0000-4000-8000-0123456789ab', 'got a UUID; expected the id of an Account, acc_…'],
    [undefined, 'missing; expected the id of an Account, acc_…'],
    [7, 'got 7; expected the id of an Account, acc_…'],
  ] as const;
  expect(await Promise.all(rows.map(([id]) => describe(id)))).toEqual(rows.map(([, text]) => text));
});

test('error.issues names the expected id and hides the invalid value', async () => {
  const error = await rejection((payments) => payments.transfers.get('sk_live_pasted_by_mistake'));
  expect(error.issues[0]?.message).toContain('expected the id of a Transfer, txfr_…');
  expect(JSON.stringify(error)).not.toContain('pasted_by_mistake');
});

const base = 'https://api.example.com/v0';
/** Strings that could change the meaning of a URL. */
const nasty = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc
    .array(
      fc.constantFrom(
        '.',
        '..',
        '/',
        '\\',
        '%2e',
        '%2F',
        '%',
        '?',
        '#',
        ';',
        ':',
        '@',
        ' ',
        '\t',
        '\n',
        '\0',
        '\u202e',
        '\ud800',
        'é',
        '🦊',
        'a',
        '0',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
);

test('get(id) reaches no other endpoint, whatever characters the id has', async () => {
  const { fetch, requests } = recorder(() => new Response('{}', { status: 404 }));
  const payments = new PaymentsClient({ baseUrl: base, apiKey: 'sk_x', fetch, maxRetries: 0 });
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...Object.keys(nounTable)),
      fc.boolean(),
      nasty,
      async (noun, prefixed, text) => {
        const id = prefixed ? `${prefixOf(noun)}${text}` : text;
        requests.length = 0;
        const error = await Promise.resolve(invoke(payments, `${noun}.get`, [id])).catch(
          (reason: unknown) => reason,
        );
        if (error instanceof ValidationError) {
          expect(requests).toEqual([]);
          return;
        }
        accepted += 1;
        const { origin, pathname, search, hash } = new URL(requests[0]?.url ?? '');
        expect([origin, search, hash]).toEqual(['https://api.example.com', '', '']);
        expect(pathname).toMatch(new RegExp(`^/v0/${noun}/[^/]+$`));
        expect(decodeURIComponent(pathname.split('/').at(-1) ?? '')).toBe(id);
      },
    ),
    { numRuns: 1_500 },
  );
  // The property would also hold if nothing was ever sent.
  expect(accepted).toBeGreaterThan(50);
});

test('payments.request stays inside the chosen API, whatever its `path` is', async () => {
  const { fetch, requests } = recorder(() => Response.json({}));
  const payments = new PaymentsClient({
    baseUrl: base,
    apiKey: 'sk_x',
    jwt: 'a.b.c',
    fetch,
    maxRetries: 0,
  });
  let accepted = 0;
  await fc.assert(
    fc.asyncProperty(nasty, async (text) => {
      const path = `/${text}`;
      requests.length = 0;
      const request: AnyRequest = { method: 'POST', path, api: 'versioned' };
      const error = await payments.request(request).catch((reason: unknown) => reason);
      if (error instanceof ValidationError) {
        expect(requests).toEqual([]);
        return;
      }
      accepted += 1;
      const { origin, pathname, search, hash } = new URL(requests[0]?.url ?? '');
      expect([origin, search, hash]).toEqual(['https://api.example.com', '', '']);
      expect(pathname.startsWith('/v0/')).toBe(true);
      expect(decodeURI(pathname.replaceAll('%', '%25'))).toBe(`/v0${path}`);
    }),
    { numRuns: 1_500 },
  );
  expect(accepted).toBeGreaterThan(50);
});

test('entities.list sends a cursor unchanged, whatever characters the cursor contains', async () => {
  const { fetch, requests } = recorder(() => Response.json({ data: [], hasMore: false }));
  const payments = new PaymentsClient({ baseUrl: base, apiKey: 'sk_x', fetch });
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1 }), async (cursor) => {
      await payments.entities.list({ cursor });
      expect(new URL(requests.at(-1)?.url ?? '').searchParams.get('cursor')).toBe(cursor);
    }),
    { numRuns: 200 },
  );
});
