import { argument, validate } from '../calls/arguments.ts';
import { findInputsIssues, type Inputs, type ReadInput } from '../calls/inputs.ts';
import type { Issue } from '../errors/errors.ts';
import { describeReferenceProblem, isReference, journalKey } from '../internal/formats.ts';
import { issueAt, maxIssues } from '../internal/issues.ts';
import { transferCreateInputSchema, type OnceInput } from '../schemas/transfer.ts';
import type { BookedPayment } from './source-books.ts';

/** The payments that the caller passed to reconcileAll or waitForAll, read and checked. */
export interface BookedInputs {
  readonly sources: Map<string, BookedPayment[]>;
  /** Maps the journal key of each reference to the place of its input, such as `inputs[0]`. */
  readonly references: ReadonlyMap<string, string>;
}

/**
 * Reads the caller's payments, and adds their problems to `issues`. If `issues` is not empty, the
 * returned payments are incomplete.
 */
export async function readInputsOfBooks(
  inputs: Inputs<OnceInput>,
  readInputs: () => Inputs<ReadInput<OnceInput>>,
  issues: Issue[],
): Promise<BookedInputs> {
  issues.push(...findInputsIssues(inputs));
  const sources = new Map<string, BookedPayment[]>();
  const references = new Map<string, string>();
  let at = 0;
  for await (const { input: callerInput, copy } of issues.length === 0 ? readInputs() : []) {
    const input = checkInput(copy, `inputs[${at}]`, references, issues);
    at += 1;
    if (issues.length >= maxIssues) break;
    if (input === undefined) continue;
    const payments = sources.get(input.sourceAccountId) ?? [];
    sources.set(input.sourceAccountId, payments);
    payments.push({ callerInput, input, record: {}, exact: new Map(), similar: new Map() });
  }
  return { sources, references };
}

/**
 * Adds the problems of an input to `issues`, or its new reference to `references`. Returns
 * undefined only if the input does not match its schema.
 */
function checkInput(
  copy: OnceInput,
  at: string,
  references: Map<string, string>,
  issues: Issue[],
): OnceInput | undefined {
  if (validate(argument(transferCreateInputSchema(), copy, at), issues) === undefined) {
    return undefined;
  }
  const { description } = copy;
  const place = `${at}.description`;
  // An earlier version may have accepted a reference that createOnce rejects now.
  const problem = isReference(description) ? undefined : describeReferenceProblem(description);
  if (problem !== undefined) {
    issues.push(issueAt(place, problem, description));
    return copy;
  }
  const key = journalKey(description);
  const earlierInput = references.get(key);
  if (earlierInput === undefined) {
    references.set(key, at);
  } else {
    const message = `${earlierInput} has the reference "${description}", too; a reference belongs to one payment`;
    issues.push({ path: place, message });
  }
  return copy;
}
