import { ValidationError, type CallIdentity } from '../errors/errors.ts';
import { createError, messagePartsOf } from '../errors/message.ts';
import { cloneInput, isObject, isPlainObject, withoutMessage } from '../internal/objects.ts';
import { redactDeep, type Redact } from '../errors/redact.ts';
import { describeKind, findSimilar, withArticle } from '../internal/text.ts';
import { fieldOf } from '../internal/thrown.ts';
import {
  issueAt,
  join,
  maxIssues,
  withHint,
  type DetailedIssue,
  type Issue,
} from '../internal/issues.ts';

/** The part of a zod schema that argument checks use, so that other code needs no zod types. */
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

/** A value that the caller passed, and the schema that it must match when the call runs. */
export interface Argument<T> {
  readonly schema: Validator<T>;
  readonly value: unknown;
  /** The path of the value, such as `options.since`; empty if the value is the whole input. */
  readonly at: string;
}
export const argument = <T>(schema: Validator<T>, value: unknown, at = ''): Argument<T> => ({
  schema,
  value,
  at,
});

/**
 * Copies the caller's input and reads each field once, because a field may be an accessor of an ORM
 * entity and the caller may change the object right after the call. The SDK checks, records and
 * sends the copy.
 */
export function readInput<T>(input: T, schema: Validator<unknown>): T {
  if (!isObject(input) || isPlainObject(input)) return cloneInput(input);
  const names = new Set(Object.keys(shapeOf(schema)));
  // Skip names that Object.prototype has, because an old library may have added enumerable members.
  for (const name in input) if (!(name in Object.prototype)) names.add(name);
  const fields = Array.from(names, (name) => [name, Reflect.get(input, name)] as const);
  return cloneInput(Object.fromEntries(fields.filter(([, value]) => value !== undefined))) as T;
}

/** The URL path of a request, with ids that the SDK has not checked yet. */
export interface Path {
  /** The path with `{id}` in place of each id, such as `/transfers/{id}`. */
  readonly template: string;
  /** The last id in the path, if any. The response to a read must not have another id. */
  readonly id?: unknown;
  /** Checks the ids and returns the path. Adds a problem to `issues` for each invalid id. */
  resolve(issues: DetailedIssue[]): string;
}

/** Builds a path from literal strings and ids: path`/transfers/${argument(idSchema, id)}`. */
export function path(literals: TemplateStringsArray, ...ids: readonly Argument<string>[]): Path {
  return {
    template: literals.join('{id}'),
    id: ids.at(-1)?.value,
    resolve: (issues) =>
      literals.reduce((before, literal, index) => {
        const id = ids[index - 1];
        const segment = id === undefined ? undefined : validate({ ...id, at: 'id' }, issues);
        return `${before}${encodeURIComponent(segment ?? '')}${literal}`;
      }),
  };
}

/**
 * Checks an argument; for an invalid value, returns undefined and adds the reasons to `issues`. If
 * an unknown field is one of `optionNames`, its reason says that the field is an option.
 */
export function validate<T>(
  { schema, value, at }: Argument<T>,
  issues: DetailedIssue[],
  optionNames?: () => readonly string[],
): T | undefined {
  const result = schema.safeParse(value, withoutMessage);
  if (result.success) return result.data;
  // One value may fail two checks that have the same message. The error lists such a message once.
  const keyOf = (issue: DetailedIssue): string => `${issue.path}\n${withHint(issue).message}`;
  const keys = new Set(issues.map(keyOf));
  for (const schemaIssue of result.error.issues) {
    if (issues.length >= maxIssues) break;
    for (const issue of describeArgumentIssue(schemaIssue, value, at, schema, optionNames)) {
      if (!keys.has(keyOf(issue))) issues.push(issue);
      keys.add(keyOf(issue));
    }
  }
  return undefined;
}

/** An error message lists at most this many problems, so that a logger can print it. */
const maxListedIssues = 20;

/**
 * Creates the error of a call with invalid arguments. The message lists the first problems,
 * `issues` all that were found.
 */
export function invalidArguments(
  call: CallIdentity,
  issues: readonly DetailedIssue[],
  redact: Redact,
): ValidationError {
  const clean = redactDeep(issues, redact);
  const parts = {
    ...describeIssues(clean, call.operation),
    consequence: 'Nothing was sent.',
    issues: clean,
  };
  const facts = { ...call, outcome: 'not_sent', issues: clean.map(withHint) } as const;
  return createError(ValidationError, parts, facts);
}

/**
 * Returns the parts of an error message: one line for a single problem, or else a heading and the
 * first problems as a list.
 */
function describeIssues(issues: readonly DetailedIssue[], operation: string) {
  const [first] = issues;
  if (first !== undefined && issues.length === 1) {
    const { path: place, message, hint } = first;
    return { what: `Invalid ${place || 'input'} in ${operation}: ${message}`, hint };
  }
  const lines = issues
    .slice(0, maxListedIssues)
    .map(withHint)
    .map((issue) => `  ${issue.path || '(input)'}: ${issue.message}`);
  if (issues.length > maxListedIssues) {
    lines.push(`  and ${issues.length - maxListedIssues} more, which are in error.issues`);
  }
  return { what: `${issues.length} invalid arguments in ${operation}:`, notes: lines };
}

/** The problems of an error from {@link invalidArguments}, each with its hint in its own field. */
export const detailedIssuesOf = (error: ValidationError): readonly DetailedIssue[] =>
  messagePartsOf(error).issues ?? error.issues;

function describeArgumentIssue(
  issue: SchemaIssue,
  value: unknown,
  at: string,
  schema: unknown,
  optionNames?: () => readonly string[],
): DetailedIssue[] {
  if (issue.code === 'unrecognized_keys')
    return describeUnknownFields(issue, at, schema, optionNames);
  const invalid = valueAt(value, issue.path);
  const place = join(at, issue.path);
  if (isWithoutMessage(issue)) return [{ path: place, message: describeMismatch(issue, invalid) }];
  return [issueAt(place, issue.message, invalid)];
}

/** Describes what is wrong with a response. Does not quote values, because they may identify a customer. */
export function describeResponseIssue(issue: SchemaIssue, response: unknown): Issue[] {
  const place = join('', issue.path);
  if (issue.code === 'unrecognized_keys') {
    return describeUnknownFields(issue, '', undefined).map(withHint);
  }
  const message = isWithoutMessage(issue)
    ? describeMismatch(issue, valueAt(response, issue.path))
    : issue.message;
  return [{ path: place, message }];
}

function describeUnknownFields(
  issue: SchemaIssue,
  at: string,
  schema: unknown,
  optionNames?: () => readonly string[],
): DetailedIssue[] {
  const parent = issue.path.reduce((inner, key) => shapeOf(inner)[key], schema);
  const names = Object.keys(shapeOf(parent));
  return (issue.keys ?? []).map((key) =>
    unknownNameAt(join(at, [...issue.path, key]), key, 'field', names, optionNames?.()),
  );
}

const valueAt = (value: unknown, keys: readonly PropertyKey[]): unknown =>
  keys.reduce<unknown>((inner, key) => fieldOf(inner, key), value);

/** Returns the schema of each field of a zod object schema, by field name. */
function shapeOf(schema: unknown): Readonly<Record<PropertyKey, unknown>> {
  const { shape, innerType } = (schema as ZodSchema | undefined)?.def ?? {};
  return shape ?? (innerType === undefined ? {} : shapeOf(innerType));
}
interface ZodSchema {
  readonly def?: { readonly shape?: Record<PropertyKey, unknown>; readonly innerType?: unknown };
}

/** Describes an unknown field or option, and suggests a known name that is similar. */
export function unknownNameAt(
  place: string,
  key: string,
  kind: 'field' | 'option',
  names: readonly string[],
  optionNames: readonly string[] = [],
): DetailedIssue {
  const similar = findSimilar(key, names);
  const message = `unknown ${kind}`;
  if (similar !== undefined)
    return { path: place, message: `${message}; did you mean ${similar}?` };
  return { path: place, message, hint: describeNameFix(key, kind, names, optionNames) };
}

const idempotencyHint =
  'The description is the key of createOnce, which pays once for each; for other creations see the client option platform.idempotencyHeader';

function describeNameFix(
  key: string,
  kind: 'field' | 'option',
  names: readonly string[],
  optionNames: readonly string[],
): string {
  if (/idempot/i.test(key)) return idempotencyHint;
  if (kind === 'option') return `The options are ${names.join(', ')}`;
  if (optionNames.includes(key)) return 'It is an option: pass it in the last argument';
  if (names.includes('cursor')) {
    return `The fields are ${names.join(', ')}. Pass the nextCursor of a page as cursor, or loop with for await; send an undocumented filter through options.query`;
  }
  return 'Check the spelling, or send an undocumented one through options.body or options.query';
}

/** Whether the schema has no error message of its own for this problem. */
const isWithoutMessage = ({ message }: SchemaIssue): boolean =>
  message === '' || message === withoutMessage.error();

const describeMismatch = (issue: SchemaIssue, value: unknown): string =>
  `got ${describeKind(value)}; expected ${describeExpected(issue)}`;

function describeExpected(issue: SchemaIssue): string {
  if (issue.code === 'invalid_union') {
    const options = new Set((issue.errors ?? []).flat().map(describeExpected));
    return [...options].join(' or ');
  }
  if (typeof issue.expected !== 'string') return 'another value';
  return zodTypeNames[issue.expected] ?? withArticle(issue.expected);
}

const zodTypeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  record: 'an object',
};
