import { expect, test } from 'vitest';
import { redactor } from '../../src/errors/redact.ts';

const opaque = 'Zx9/Yw8+Vu7=Ts6&Q';
const redact = redactor([opaque]);

test.for([['as it is', opaque]])('a secret %s goes, and the text around it stays', ([, said]) => {
  expect(redact(`The token ${said} is not known: "${said}".`)).toBe(
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
])('a text that says a secret %s goes as a whole', ([, said]) => {
  expect(redact(`The token ${said} is not known.`)).toBe('[redacted]');
});

test('a secret that a lookalike would cut in two goes to its end', () => {
  const odd = `sk_live_a,b;c'd"e>tail`;
  for (const text of [`Bearer ${odd}`, odd, encodeURIComponent(odd), JSON.stringify(odd)]) {
    expect(redactor([odd])(text)).not.toContain('tail');
  }
});

test('a secret that begins like another goes to its end', () => {
  expect(redactor(['token-1', 'token-12'])('not token-12, not token-1.')).toBe(
    'not [redacted], not [redacted].',
  );
});

test('keys and tokens of others go, too', () => {
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0.c2ln';
  expect(redact(`not sk_live_theirs, not ${jwt}, not Bearer abc; x=1%20sk_test_1`)).toBe(
    'not [redacted], not [redacted], not [redacted]; x=1%20[redacted]',
  );
});

test('ordinary words stay', () => {
  const words = 'risk_limit, task_1, disk_full, my_sk_index, 100% \\o/ &c.';
  expect(redactor(['sk_live_1', 'day'])(`A day: ${words}`)).toBe(`A day: ${words}`);
});
