import { expect, test, vi } from 'vitest';
import { mistakes } from './mistakes.ts';

/** The error of a mistake, the same on every machine and at any time. */
async function describeMistake(make: () => unknown): Promise<string> {
  for (const name of ['BASE_URL', 'ROOT_URL', 'API_KEY', 'JWT']) {
    vi.stubEnv(`PAYMENTS_${name}`, undefined);
  }
  try {
    await make();
  } catch (error) {
    const { name, message } = error as Error;
    return `${name}: ${message}`
      .replaceAll(/127\.0\.0\.1:\d{3,}/g, '127.0.0.1:8080')
      .replaceAll(/20\d\d-[\d-]+T[\d:.]+Z/g, '2026-01-01T00:00:00.000Z')
      .replaceAll(/[0-9A-F]{16}:error:.*?:/g, '');
  }
  throw new Error('Nobody has noticed this mistake.');
}

const count = (text: string): number => text.split(/\s+/).filter((word) => /\w/.test(word)).length;

test('the messages for typical mistakes are those in messages.txt', async () => {
  const texts: string[] = [];
  for (const [what, make] of mistakes) texts.push(`${what}\n\n${await describeMistake(make)}`);
  const all = texts.map((text, index) => `${index + 1}. ${text}\n`).join('\n\n');
  await expect(all).toMatchFileSnapshot('messages.txt');
  const lines = texts.map((text) => text.split('\n').slice(2));
  expect(lines.filter(([first = '']) => count(first) > 16)).toEqual([]);
  const unknown = lines.flat().filter((line) => line.startsWith('Outcome unknown'));
  expect(unknown.filter((line) => count(line) > 25)).toEqual([]);
});
