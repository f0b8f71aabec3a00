import { PaymentInDoubtError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { expect, test } from 'vitest';
import { failureOf, respond } from '../support/clients.ts';
import { newTransfer, page, transferCreated } from '../support/values.ts';

/** What a mock of the platform does wrong, and what the first line of the error tells its author. */
const mistakes: readonly (readonly [name: string, fetch: () => typeof fetch, advice: RegExp])[] = [
  [
    'one id for two creations',
    () => async (request) =>
      new Request(request).method === 'GET' ? respond(200, page([])) : respond(201, created),
    /A mock has to give each creation an id of its own\.$/,
  ],
  [
    'one Response for two calls',
    () => {
      const response = respond(201, created);
      return () => Promise.resolve(response);
    },
    /returned one Response twice; each call needs its own\.$/,
  ],
  [
    'a 422 without a code',
    () => () => Promise.resolve(respond(422, { message: 'insufficient funds' })),
    /responded with 422 \(application\/json\); expected the platform's Error body, with error and code\.$/,
  ],
  [
    'a 409 of a string',
    () => () => Promise.resolve(respond(409, 'taken')),
    /expected the platform's Error body, with error and code\.$/,
  ],
  [
    'nothing',
    () => () => Promise.resolve(undefined as unknown as Response),
    /the custom fetch returned something that is not a Response\.$/,
  ],
  [
    'an error with a code and a text',
    () => () => Promise.reject(Object.assign(new Error('no handler for it'), { code: 'ENOMOCK' })),
    /failed \(ENOMOCK\): no handler for it\.$/,
  ],
];
const created = { ...transferCreated, ...newTransfer };

test.each(mistakes)(
  'the first line of the error explains the mistake: %s',
  async (_, createFetch, advice) => {
    const { transfers } = new PaymentsClient({
      baseUrl: 'https://api.example.com/v0',
      apiKey: 'sk_mock',
      fetch: createFetch(),
      journal: memoryJournal(),
    });
    const pay = (description: string) => transfers.createOnce({ ...newTransfer, description });
    await pay('invoice 1').catch(() => undefined);
    const error = await failureOf(pay('invoice 2'), PaymentInDoubtError);
    expect(error.message.split('\n')[0]).toMatch(advice);
  },
);
