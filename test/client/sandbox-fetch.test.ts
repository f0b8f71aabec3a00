import { ConfigurationError, PaymentsClient } from 'payments-platform-sdk';
import { memoryJournal } from 'payments-platform-sdk/journals';
import { Sandbox } from 'payments-platform-sdk/sandbox';
import { expect, test, vi } from 'vitest';

const { clientOptions } = new Sandbox();
const production = 'https://api.example.com/v0';

test('a client of a platform is rejected when its fetch is that of a sandbox', () => {
  const options = { ...clientOptions, baseUrl: production, journal: memoryJournal() };
  expect(() => new PaymentsClient(options)).toThrow(ConfigurationError);
  expect(() => new PaymentsClient(options)).toThrow('Invalid option fetch');
});

test('a clone of a sandbox client is rejected when it gets the URL of a platform', () => {
  const payments = new PaymentsClient(clientOptions);
  expect(() => payments.withOptions({ baseUrl: production })).toThrow('Invalid option fetch');
});

test('a client with the fetch of a sandbox is rejected when the environment names a platform', () => {
  vi.stubEnv('PAYMENTS_BASE_URL', production);
  const { apiKey, fetch } = new Sandbox().clientOptions;
  expect(() => new PaymentsClient({ apiKey, fetch })).toThrow('Invalid option fetch');
  vi.unstubAllEnvs();
});

test('a client of a sandbox on a local port accepts the fetch of the sandbox', () => {
  const { baseUrl } = new PaymentsClient({
    ...clientOptions,
    baseUrl: 'http://127.0.0.1:4010/v0',
  }).toJSON();
  expect(baseUrl).toBe('http://127.0.0.1:4010/v0');
});
