import { ConfigurationError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';

const { clientOptions } = new Sandbox();
const production = 'https://api.example.com/v0';

test('a client with sandbox.fetch rejects a real platform’s URL', () => {
  const options = { ...clientOptions, baseUrl: production, journal: memoryJournal() };
  expect(() => new PaymentsClient(options)).toThrow(ConfigurationError);
  expect(() => new PaymentsClient(options)).toThrow('Invalid option fetch');
});

test('withOptions rejects a real platform’s URL together with sandbox.fetch', () => {
  const payments = new PaymentsClient(clientOptions);
  expect(() => payments.withOptions({ baseUrl: production })).toThrow('Invalid option fetch');
});

test('PAYMENTS_BASE_URL of a real platform is rejected with sandbox.fetch', () => {
  vi.stubEnv('PAYMENTS_BASE_URL', production);
  const { apiKey, fetch } = new Sandbox().clientOptions;
  expect(() => new PaymentsClient({ apiKey, fetch })).toThrow('Invalid option fetch');
  vi.unstubAllEnvs();
});

test('sandbox.fetch is accepted with a URL on this computer', () => {
  const { baseUrl } = new PaymentsClient({
    ...clientOptions,
    baseUrl: 'http://127.0.0.1:4010/v0',
  }).toJSON();
  expect(baseUrl).toBe('http://127.0.0.1:4010/v0');
});
