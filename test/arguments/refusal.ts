import { ValidationError, type PaymentsClient } from 'payments-platform-sdk';
import { expect, test } from 'vitest';
import { clientOf } from '../support/clients.ts';
import { invoke } from '../support/interface.ts';
import { whichFail } from '../support/which-fail.ts';

/**
 * The error of a call that must be refused. It comes as a rejection and not as an exception, and
 * nothing is sent.
 */
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
  // One mistake is the first line, with its remedy on the second; several are a list.
  const text = refused.message.replaceAll('.\n', '. ');
  for (const { path, message } of refused.issues) {
    expect(text).toContain(message);
    expect(text).toContain(path === '' ? 'input' : path);
  }
  return refused;
}

/** What is wrong, where it is said to be, and what the message must say. */
export type Row = readonly [what: string, input: unknown, path: string, says: RegExp];

/** One test: each row is refused for one reason, and the error says where and what to do. */
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
