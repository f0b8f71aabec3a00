import { describeArrival } from './text.ts';

/** One problem in an argument or a response. */
export interface Issue {
  /** The path of the value, such as `amount` or `fees[0].token`; empty for a whole value. */
  readonly path: string;
  /** What the SDK expected of the value, and what you can do. */
  readonly message: string;
}

/** A problem with a value. The message has no hint until {@link withHint} appends `hint`. */
export interface DetailedIssue extends Issue {
  readonly hint?: string | undefined;
}

/** What is wrong with a value. */
export interface Problem {
  /** What the value is, such as `a JWT`. If absent, the message names the type of the value. */
  readonly got?: string | undefined;
  readonly expected: string;
  /** What the caller should do about the invalid value. */
  readonly hint?: string | undefined;
}

export const describeProblem = ({ got, expected }: Problem): string =>
  `${got}; expected ${expected}`;

/** Creates a value's issue. A string is the whole message or comes from {@link expectation}. */
export function issueAt(path: string, problem: Problem | string, value: unknown): DetailedIssue {
  if (typeof problem === 'string') {
    const details = expectations.get(problem);
    return details === undefined ? { path, message: problem } : issueAt(path, details, value);
  }
  const { got, expected, hint } = problem;
  const arrival = got === undefined ? describeArrival(value) : `got ${got}`;
  const message = describeProblem({ got: arrival, expected });
  return hint === undefined ? { path, message } : { path, message, hint };
}

/** Appends the hint of an issue to its message, because callers see only the message. */
export const withHint = ({ path, message, hint }: DetailedIssue): Issue => ({
  path,
  message: hint === undefined ? message : `${message}. ${hint}`,
});

const expectations = new Map<string, Problem>();

/** Makes a message for zod, which accepts only a string. {@link issueAt} looks up the problem. */
/* @__NO_SIDE_EFFECTS__ */
export function expectation(problem: Problem | string): string {
  const details = typeof problem === 'string' ? { expected: problem } : problem;
  const { got, expected, hint } = details;
  const parts = [got && `got ${got}; `, `expected ${expected}`, hint && `. ${hint}`];
  const message = parts.filter(Boolean).join('');
  expectations.set(message, details);
  return message;
}

/** An error lists at most this many issues, because a long list of inputs may have millions. */
export const maxIssues = 1_000;

/** Joins the path of a value and the keys inside the value, as in `a.b[0]`. */
export const join = (at: string, keys: readonly PropertyKey[]): string =>
  keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return path === '' ? String(key) : `${path}.${String(key)}`;
  }, at);
