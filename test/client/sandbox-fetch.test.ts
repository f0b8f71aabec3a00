import { ConfigurationError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';

const { clientOptions } = new Sandbox();
const production = 'https://api.example.com/v0';

test('a new client throws if the base URL is that of a real platform and the option fetch comes from a sandbox', () => {
  const options = { ...clientOptions, baseUrl: production, journal: memoryJournal() };
  expect(() => new PaymentsClient(options)).toThrow(ConfigurationError);
  expect(() => new PaymentsClient(options)).toThrow('Invalid option fetch');
});

test('withOptions throws if a client with the fetch of a sandbox gets the base URL of a real platform', () => {
  const payments = new PaymentsClient(clientOptions);
  expect(() => payments.withOptions({ baseUrl: production })).toThrow('Invalid option fetch');
});

test('a new client with the fetch of a sandbox throws if PAYMENTS_BASE_URL names a real platform', () => {
  vi.stubEnv('PAYMENTS_BASE_URL', production);
  const { apiKey, fetch } = new Sandbox().clientOptions;
  expect(() => new PaymentsClient({ apiKey, fetch })).toThrow('Invalid option fetch');
  vi.unstubAllEnvs();
});

test('a new client accepts the fetch of a sandbox if the base URL is on this computer', () => {
  const { baseUrl } = new PaymentsClient({
    ...clientOptions,
    baseUrl: 'http://127.0.0.1:4010/v0',
  }).toJSON();
  expect(baseUrl).toBe('http://127.0.0.1:4010/v0');
});
