import { ValidationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { join } from '../schemas/issue-path.ts';
import { isObject, isRecord, recordRule } from './records.ts';
import { redactDeep, redactError, saidBy, type Redact } from '../errors/redact.ts';

/** The little that is asked of a schema here, so that no zod type spreads through the code. */
export interface Validator<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: readonly SchemaIssue[] } };
}
interface SchemaIssue {
  readonly code?: string | undefined;
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly expected?: unknown;
  readonly keys?: readonly string[];
  readonly errors?: readonly (readonly SchemaIssue[])[];
}

/** A value of the caller's and the schema that it must match; validated when the call runs. */
export interface Argument<T> {
  readonly schema: Validator<T>;
  readonly value: unknown;
  /** Where the caller gave it, such as `options.since`; empty for an input itself. */
  readonly at: string;
}
export const argument = <T>(schema: Validator<T>, value: unknown, at = ''): Argument<T> => ({
  schema,
  value,
  at,
});

/** A path with its parameters still unchecked. */
export interface Path {
  /** Without ids: `/transfers/{id}`. */
  readonly template: string;
  /** The path to ask for. Adds to `issues` what is wrong with a parameter. */
  resolve(issues: Issue[]): string;
}

/** Builds a path from literal text and checked ids: path`/transfers/${argument(idSchema, id)}`. */
export function path(literals: TemplateStringsArray, ...ids: readonly Argument<string>[]): Path {
  return {
    template: literals.join('{id}'),
    resolve: (issues) =>
      literals.reduce((before, literal, index) => {
        const id = ids[index - 1];
        const segment = id === undefined ? undefined : validate({ ...id, at: 'id' }, issues);
        return `${before}${encodeURIComponent(segment ?? '')}${literal}`;
      }),
  };
}

/** What a server may take for a slash once it has decoded a path. */
const separator = /\/|%2f|%5c/i;

/**
 * The path of a call that the SDK does not cover. It is relative to the API's base and stays
 * below it: no host, no query, no way up.
 */
export function literalPath(given: unknown): Path {
  return {
    template: typeof given === 'string' ? given : '',
    resolve(issues) {
      const wrong =
        typeof given !== 'string' || !given.startsWith('/') || given.startsWith('//')
          ? 'expected a relative path that starts with one slash, such as "/transfers"'
          : !/^[\x21-\x7e]+$/.test(given) || /[?#\\]/.test(given)
            ? 'expected an encoded path without spaces, "?", "#" or "\\"; give query parameters in query'
            : given.split(separator).some((segment) => /^(\.|%2e){1,2}(;|$)/i.test(segment))
              ? 'expected a path without "." and ".." segments'
              : undefined;
      if (wrong !== undefined) issues.push({ path: 'path', message: wrong });
      return typeof given === 'string' ? given : '';
    },
  };
}

/** The checked value, or undefined and what is wrong with it in `issues`. */
export function validate<T>({ schema, value, at }: Argument<T>, issues: Issue[]): T | undefined {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // One value can break two rules that share a sentence; it is said once.
  const said = new Set(issues.map(({ path: place, message }) => `${place}\n${message}`));
  for (const broken of result.error.issues) {
    if (issues.length >= mostIssues) break;
    for (const found of describe(broken, value, at)) {
      const sentence = `${found.path}\n${found.message}`;
      if (!said.has(sentence)) issues.push(found);
      said.add(sentence);
    }
  }
  return undefined;
}

/** The same for a query or a body, of which every field has to come along. */
export function validateFields<T>(given: Argument<T>, issues: Issue[]): T | undefined {
  if (!isObject(given.value)) return validate(given, issues);
  // zod sees inherited fields, too, such as the methods of a class that TypeScript made a function.
  if (isRecord(given.value)) return validate({ ...given, value: { ...given.value } }, issues);
  issues.push({ path: given.at, message: recordRule });
  return undefined;
}

/** Nobody reads more, and a list of millions may have as many mistakes. */
export const mostIssues = 1_000;

/** A message is read by people, and logged in one piece. */
const toldAtMost = 20;

/** The error of a call whose arguments are wrong: it lists all of it, and nothing was sent. */
export function invalidArguments(
  call: CallIdentity,
  issues: readonly Issue[],
  redact: Redact,
): ValidationError {
  const clean = redactDeep(issues, redact);
  const lines = clean
    .slice(0, toldAtMost)
    .map((issue) => `  ${issue.path || '(input)'}: ${issue.message}`);
  if (clean.length > toldAtMost) {
    lines.push(`  and ${clean.length - toldAtMost} more, which are in error.issues`);
  }
  return new ValidationError(
    `The arguments of ${call.operation} are not valid.\n${lines.join('\n')}\nNothing was sent.`,
    { ...call, outcome: 'not_sent', issues: clean },
  );
}

/** The error of arguments that cannot be looked at: a getter throws, or the stack is too short. */
export function unreadableArguments(
  call: CallIdentity,
  error: unknown,
  redact: Redact,
): ValidationError {
  const message = `cannot be read${saidBy(redactError(error, redact))}`;
  return invalidArguments(call, [{ path: '', message }], redact);
}

/** What a schema found wrong, in words. `value` is what was checked. */
export function describe(issue: SchemaIssue, value: unknown, at = ''): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    return (issue.keys ?? []).map((key) => ({
      path: join(at, [...issue.path, key]),
      message:
        'unknown field; check the spelling, or send an undocumented one through options.body or options.query',
    }));
  }
  const found = issue.path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  );
  const message = isUnworded(issue)
    ? `expected ${expectation(issue)}, got ${kindOf(found)}`
    : issue.code === 'invalid_type' && (found === undefined || found === null)
      ? `${found === null ? 'got null' : 'missing'}; ${issue.message}`
      : issue.message;
  return [{ path: join(at, issue.path), message }];
}

/**
 * Whether a message is zod's own. Its words differ with the zod and the language that the
 * application has loaded; a foreign schema, which gives no code, knows best.
 */
const isUnworded = ({ code, message, expected }: SchemaIssue): boolean =>
  message === '' ||
  message === 'Invalid input' ||
  (code !== undefined && (message.startsWith('Invalid input') || expected === 'object'));

function expectation(issue: SchemaIssue): string {
  if (issue.code === 'invalid_union') {
    const options = new Set((issue.errors ?? []).flat().map(expectation));
    return [...options].join(' or ');
  }
  return typeof issue.expected === 'string' ? article(issue.expected) : 'another value';
}

const article = (noun: string): string =>
  noun === 'int'
    ? 'a whole number'
    : noun === 'record'
      ? 'an object'
      : `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** What a value is, without showing it. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return article(typeof value);
}
