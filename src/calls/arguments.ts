import { ValidationError, type CallIdentity, type Issue } from '../errors/errors.ts';
import { join, mostIssues } from '../internal/issues.ts';
import { withoutMessage } from '../internal/zod-message.ts';
import { redactDeep, type Redact } from '../errors/redact.ts';

/** The little that is asked of a schema here, so that no zod type spreads through the code. */
export interface Validator<T> {
  safeParse(
    value: unknown,
    words?: typeof withoutMessage,
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

/** The checked value, or undefined and what is wrong with it in `issues`. */
export function validate<T>(
  { schema, value, at }: Argument<T>,
  issues: Issue[],
  optionNames?: () => readonly string[],
): T | undefined {
  const result = schema.safeParse(value, withoutMessage);
  if (result.success) return result.data;
  // One value can break two rules that share a sentence; it is said once.
  const said = new Set(issues.map(({ path: place, message }) => `${place}\n${message}`));
  for (const broken of result.error.issues) {
    if (issues.length >= mostIssues) break;
    for (const found of describe(broken, value, at, schema, optionNames)) {
      const sentence = `${found.path}\n${found.message}`;
      if (!said.has(sentence)) issues.push(found);
      said.add(sentence);
    }
  }
  return undefined;
}

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
  const [first] = clean;
  const what =
    first !== undefined && clean.length === 1
      ? `Invalid ${first.path || 'input'} in ${call.operation}: ${sentences(first.message)}`
      : `${clean.length} invalid arguments in ${call.operation}:\n${lines.join('\n')}`;
  return new ValidationError(`${what}\nNothing was sent.`, {
    ...call,
    outcome: 'not_sent',
    issues: clean,
  });
}

/** What is wrong, and on a line of its own what to do. */
export const sentences = (message: string): string =>
  `${message}${/[.?…]$/.test(message) ? '' : '.'}`.replace('. ', '.\n');

/** A rule, behind what has arrived in its place. */
export const told = (rule: string, value: unknown): string =>
  rule.startsWith('expected ') ? `${arrived(value)}; ${rule}` : rule;

/** What has arrived: numbers and short texts of digits as they are, anything else without showing it. */
function arrived(value: unknown): string {
  if (value === undefined) return 'missing';
  const isShown = typeof value === 'string' && /^[-+\d.,e]{0,10}$/.test(value);
  return `got ${isShown ? `"${value}"` : typeof value === 'number' ? value : kindOf(value)}`;
}

/** What a schema found wrong, in words. `value` is what was checked. */
export function describe(
  issue: SchemaIssue,
  value: unknown,
  at = '',
  schema?: unknown,
  optionNames?: () => readonly string[],
): Issue[] {
  if (issue.code === 'unrecognized_keys') {
    const place = issue.path.reduce((inner, key) => shapeOf(inner)[key], schema);
    const names = Object.keys(shapeOf(place));
    return (issue.keys ?? []).map((key) => ({
      path: join(at, [...issue.path, key]),
      message: unknownField(key, names, false, optionNames?.()),
    }));
  }
  const found = issue.path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Reflect.get(inner, key) : undefined,
    value,
  );
  const message = isUnworded(issue)
    ? `got ${kindOf(found)}; expected ${expectation(issue)}`
    : // In an answer, a number may be somebody's.
      schema === undefined
      ? issue.message
      : told(issue.message, found);
  return [{ path: join(at, issue.path), message }];
}

/** The fields of a schema of zod's, each with its own schema. */
function shapeOf(schema: unknown): Readonly<Record<PropertyKey, unknown>> {
  const { shape, innerType } = (schema as ZodSchema | undefined)?.def ?? {};
  return shape ?? (innerType === undefined ? {} : shapeOf(innerType));
}
interface ZodSchema {
  readonly def?: { readonly shape?: Record<PropertyKey, unknown>; readonly innerType?: unknown };
}

/** What to say of a name that does not exist: which one was probably meant, or what to do. */
export function unknownField(
  key: string,
  names: readonly string[],
  isOption: boolean,
  optionNames: readonly string[] = [],
): string {
  const meant = names.find((name) => isNear(key.toLowerCase(), name.toLowerCase(), 2));
  const rest = isOption
    ? `The options are ${names.join(', ')}`
    : optionNames.includes(key)
      ? 'It is an option: pass it in the last argument'
      : 'Check the spelling, or send an undocumented one through options.body or options.query';
  return `unknown ${isOption ? 'option' : 'field'}${meant === undefined ? `. ${rest}` : `; did you mean ${meant}?`}`;
}

/** Whether so few letters, added, taken out or replaced, make one word of another. */
function isNear(one: string, other: string, edits: number): boolean {
  if (one === '' || other === '') return one.length + other.length <= edits;
  const [less, fewer] = [one.slice(1), other.slice(1)];
  if (one[0] === other[0]) return isNear(less, fewer, edits);
  if (edits === 0) return false;
  return [[less, fewer] as const, [less, other] as const, [one, fewer] as const].some(([a, b]) =>
    isNear(a, b, edits - 1),
  );
}

/** Whether a schema has left the words to us. */
const isUnworded = ({ message }: SchemaIssue): boolean =>
  message === '' || message === withoutMessage.error();

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
  const maker: unknown = Reflect.get(Object(Object.getPrototypeOf(value)), 'constructor');
  const name = typeof value === 'object' && typeof maker === 'function' ? maker.name : '';
  if (name !== '' && name !== 'Object') return article(name);
  return article(typeof value);
}
