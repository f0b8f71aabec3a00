import { expect, test } from 'vitest';
import { redactor } from '../../src/errors/redact.ts';

const opaque = 'Zx9/Yw8+Vu7=Ts6&Q';
const redact = redactor([opaque]);

test('redact replaces a secret and keeps the text around it', () => {
  expect(redact(`The token ${opaque} is not known: "${opaque}".`)).toBe(
    'The token [redacted] is not known: "[redacted]".',
  );
});

test.for([
  ['in a URL', encodeURIComponent(opaque)],
  ['in a URL in lower case', 'Zx9%2fYw8%2bVu7%3dTs6%26Q'],
  ['in JSON with escaped slashes', opaque.replaceAll('/', '\\/')],
  ['escaped in part', 'Zx9%2FYw8+Vu7=Ts6&Q'],
  ['escaped twice in part', 'Zx9%252FYw8+Vu7=Ts6&Q'],
  ['escaped twice', encodeURIComponent(encodeURIComponent(opaque))],
  ['in JSON in JSON', opaque.replaceAll('/', '\\\\\\/')],
  ['in HTML', opaque.replace('&', '&amp;')],
  ['in HTML by number', 'Zx9&#x2F;Yw8&#43;Vu7&#x3D;Ts6&Q'],
])('redact replaces the whole text when a secret is %s', ([, text]) => {
  expect(redact(`The token ${text} is not known.`)).toBe('[redacted]');
});

test('redact replaces a secret to its end when a credential pattern matches its middle', () => {
  const odd = `sk_live_a,b;c'd"e>tail`;
  for (const text of [`Bearer ${odd}`, odd, encodeURIComponent(odd), JSON.stringify(odd)]) {
    expect(redactor([odd])(text)).not.toContain('tail');
  }
});

test('redact replaces a secret to its end when another secret is its prefix', () => {
  expect(redactor(['token-1', 'token-12'])('not token-12, not token-1.')).toBe(
    'not [redacted], not [redacted].',
  );
});

test('redact replaces keys and tokens that are not those of the client', () => {
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln';
  expect(redact(`not sk_live_theirs, not ${jwt}, not Bearer abc; x=1%20sk_test_1`)).toBe(
    'not [redacted], not [redacted], not [redacted]; x=1%20[redacted]',
  );
});

test('redact keeps ordinary words', () => {
  const words = 'risk_limit, task_1, disk_full, my_sk_index, 100% \\o/ &c.';
  expect(redactor(['sk_live_1', 'day'])(`A day: ${words}`)).toBe(`A day: ${words}`);
});
