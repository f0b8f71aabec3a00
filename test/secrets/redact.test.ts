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
  ['encoded as in a URL', encodeURIComponent(opaque)],
  ['encoded as in a URL, in lower case', 'Zx9%2fYw8%2bVu7%3dTs6%26Q'],
  ['written in JSON with escaped slashes', opaque.replaceAll('/', '\\/')],
  ['encoded only in part', 'Zx9%2FYw8+Vu7=Ts6&Q'],
  ['encoded twice in part', 'Zx9%252FYw8+Vu7=Ts6&Q'],
  ['encoded twice', encodeURIComponent(encodeURIComponent(opaque))],
  ['written in JSON within JSON', opaque.replaceAll('/', '\\\\\\/')],
  ['written in HTML with &amp;', opaque.replace('&', '&amp;')],
  ['written in HTML with numbers of characters', 'Zx9&#x2F;Yw8&#43;Vu7&#x3D;Ts6&Q'],
])('redact replaces the whole text of a secret that is %s', ([, text]) => {
  expect(redact(`The token ${text} is not known.`)).toBe('[redacted]');
});

test('redact replaces a whole secret even if a pattern matches part', () => {
  const odd = `sk_live_a,b;c'd"e>tail`;
  for (const text of [`Bearer ${odd}`, odd, encodeURIComponent(odd), JSON.stringify(odd)]) {
    expect(redactor([odd])(text)).not.toContain('tail');
  }
});

test('redact replaces a secret that begins with another secret', () => {
  expect(redactor(['token-1', 'token-12'])('not token-12, not token-1.')).toBe(
    'not [redacted], not [redacted].',
  );
});

test('redact also replaces keys and tokens of other clients', () => {
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln';
  expect(redact(`not sk_live_theirs, not ${jwt}, not Bearer abc; x=1%20sk_test_1`)).toBe(
    'not [redacted], not [redacted], not [redacted]; x=1%20[redacted]',
  );
});

test('redact does not change ordinary words', () => {
  const words = 'risk_limit, task_1, disk_full, my_sk_index, 100% \\o/ &c.';
  expect(redactor(['sk_live_1', 'day'])(`A day: ${words}`)).toBe(`A day: ${words}`);
});
