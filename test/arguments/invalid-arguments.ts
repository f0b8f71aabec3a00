import { ValidationError, type PaymentsClient } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { clientOf } from '../support/clients.ts';
import { invoke } from '../support/interface.ts';
import { whichFail } from '../support/which-fail.ts';

/** The ValidationError of a call. The call rejects instead of throwing, and nothing is sent. */
export async function rejection(
  call: (payments: PaymentsClient) => PromiseLike<unknown>,
): Promise<ValidationError> {
  const { payments, requests } = clientOf(() => Response.json({ id: 'sent' }));
  let running: PromiseLike<unknown>;
  try {
    running = call(payments);
  } catch (error) {
    throw new Error('The call threw at once instead of rejecting.', { cause: error });
  }
  const error = await Promise.resolve(running).then(
    () => {
      throw new Error(`The call was accepted, and sent ${JSON.stringify(requests)}.`);
    },
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ValidationError);
  expect(requests).toEqual([]);
  const refused = error as ValidationError;
  expect(refused.outcome).toBe('not_sent');
  expect(refused.attempts).toEqual([]);
  expect(refused.retryable).toBe(false);
  expect(refused.message).toContain('Nothing was sent.');
  // A single mistake has its hint on the second line; several mistakes are a list.
  const text = refused.message.replaceAll('.\n', '. ');
  for (const { path, message } of refused.issues) {
    expect(text).toContain(message);
    expect(text).toContain(path === '' ? 'input' : path);
  }
  return refused;
}

/** An invalid input, the path of its mistake and the expected message. */
export type Row = readonly [what: string, input: unknown, path: string, says: RegExp];

/** One test for all rows. Each input has one mistake, and its error has the path and message. */
export function table(
  title: string,
  rows: readonly Row[],
  operation: string,
  first: readonly unknown[] = [],
): void {
  test(title, async () => {
    const unlike = await whichFail(rows, async (input, path, says) => {
      const error = await rejection((payments) => invoke(payments, operation, [...first, input]));
      expect(error.operation).toBe(operation);
      expect(error.issues.map((issue) => issue.path)).toEqual([path]);
      expect(error.issues[0]?.message).toMatch(says);
    });
    expect(unlike).toEqual([]);
  });
}
