import { expect, test } from 'vitest';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { PaymentsClient } from 'payments-platform-sdk';
import { namespaces } from '../support/interface.ts';

const methodsIn = (payments: PaymentsClient, noun: string): object =>
  Object(Reflect.get(payments, noun)) as object;

test.for(namespaces)('every method of the resource %s works after destructuring', async (noun) => {
  const payments = new PaymentsClient(new Sandbox().clientOptions);
  const methods = { ...Object.getOwnPropertyDescriptors(methodsIn(payments, noun)) };
  expect(Object.keys(methods)).not.toEqual([]);
  for (const { value } of Object.values<PropertyDescriptor>(methods)) {
    const method = value as () => PromiseLike<unknown>;
    // A bound method reports the invalid argument; an unbound one would throw a TypeError.
    await expect(Promise.resolve(method()).catch(({ name }: Error) => name)).resolves.not.toBe(
      'TypeError',
    );
  }
});

test('methods of a client and its clone work after destructuring', async () => {
  const { withOptions } = new PaymentsClient(new Sandbox().clientOptions);
  const { request, entities } = withOptions({ maxRetries: 0 });
  const { create } = entities;
  const { id } = await create({ email: 'ada@example.com' });
  await expect(
    request({ method: 'GET', path: `/entities/${id}`, api: 'versioned' }),
  ).resolves.toMatchObject({ id });
});

test('a printed client does not show bound methods', () => {
  const payments = new PaymentsClient(new Sandbox().clientOptions);
  expect(Object.keys(payments.transfers)).toEqual([]);
  expect(Object.keys(payments)).toEqual(namespaces);
});

test.for(namespaces)('the prototype of the client has each method of %s', (noun) => {
  const client = new PaymentsClient(new Sandbox().clientOptions);
  const methods = Object.getOwnPropertyNames(methodsIn(client, noun));
  expect(methods).not.toEqual([]);
  const mockable = methodsIn(PaymentsClient.prototype, noun);
  for (const method of methods) expect(Reflect.get(mockable, method)).toBeTypeOf('function');
});
