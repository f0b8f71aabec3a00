import type * as WorkerThreads from 'node:worker_threads';
import { builtinModule, host, isFirst, onExit, runtime } from '../internal/runtime.ts';
import { fieldOf, isError, messageOf } from '../internal/thrown.ts';
import { framesOfCaller } from './call-site.ts';
import { decorate, PaymentsError, type Issue } from './errors.ts';
import { toPlainData } from './json.ts';

/** About how many lines an error takes in a terminal. If nobody catches the error, Node adds six. */
const maxLines = 19;

const toText = (value: unknown): string => JSON.stringify(toPlainData(value) ?? null);
const cut = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** Describes an error for a terminal: message, frames of the caller, fields and causes. */
function describeShortly(error: PaymentsError): string {
  try {
    const head = `${error.name}: ${error.message}`.split('\n');
    const below = [...describeFields(error), ...describeCauses(error)].map((line) => `  ${line}`);
    const count = Math.max(2, maxLines - 1 - head.length - below.length);
    const frames = framesOfCaller(fieldOf(error, 'stack')).slice(0, count);
    return `${[...head, ...frames].join('\n')} {\n${below.join('\n')}\n}`;
  } catch {
    // A restored error may have fields of any type.
    return String(fieldOf(error, 'stack'));
  }
}

/** Fields that the message contains, or that only programs need. */
const hidden = new Set(['name', 'message', 'cause', 'errors', 'headers', 'body', 'method', 'path']);

/** Describes the fields of an error, several in a line. */
function describeFields(error: PaymentsError): string[] {
  const issues = (fieldOf(error, 'issues') ?? []) as readonly Issue[];
  const facts = {
    ...error.toJSON(),
    issues: issues.filter(({ message }) => !error.message.includes(message)),
    attempts: error.attempts.map(
      ({ reason, outcome, durationMs, requestId }) =>
        `${reason} after ${durationMs} ms, ${outcome}${requestId === undefined ? '' : `, ${requestId}`}`,
    ),
  };
  const lines: string[] = [];
  for (const [name, fact] of Object.entries(facts)) {
    const text = toText(fact);
    if (hidden.has(name) || text === '[]' || text === 'null') continue;
    const field = cut(`${name}: ${text}`);
    const longer = `${lines.at(-1)}, ${field}`;
    if (lines.length > 0 && longer.length < 100) lines[lines.length - 1] = longer;
    else lines.push(field);
  }
  return lines;
}

/** Describes the causes of an error, each in a line. A cause that the caller's function threw also gets two frames. */
function describeCauses(error: unknown, depth = 0): string[] {
  const cause = fieldOf(error, 'cause');
  if (cause === undefined || depth > 2) return [];
  const text = isError(cause) ? describeCause(cause) : toText(cause);
  const isOfCaller = depth === 0 && !(cause instanceof PaymentsError);
  return [
    `[cause]: ${cut(text.trim().replace(/\n[^]*/, ''))}`,
    ...(isOfCaller ? framesOfCaller(fieldOf(cause, 'stack')).slice(0, 2) : []),
    ...describeCauses(cause, depth + 1),
  ];
}

/**
 * Looks further for a text, because an AggregateError, such as Node's for a host with two
 * addresses, has no message.
 */
function describeCause({ name, message, errors, code }: ForeignError): string {
  const [first] = Array.isArray(errors) ? (errors as unknown[]) : [];
  const text = message.trim() || messageOf(first) || (typeof code === 'string' ? code : '');
  return `${name}: ${text}`;
}

type ForeignError = Error & { readonly errors?: unknown; readonly code?: unknown };

let uncaught: PaymentsError | undefined;

/**
 * Makes Node and console.error print the errors of this package in few lines. The errors have
 * enumerable fields, because workflow engines copy these, and each would take at least a line.
 */
export function printShortly(): void {
  // Later calls change nothing, because the property cannot be redefined.
  Reflect.defineProperty(PaymentsError.prototype, Symbol.for('nodejs.util.inspect.custom'), {
    value: function (this: PaymentsError) {
      return describeShortly(this);
    },
  });
  // Node calls no such function for an uncaught error. One listener serves all copies of the package.
  if (runtime() !== 'node' || !isFirst(globalThis, 'uncaught')) return;
  host.process?.on?.('uncaughtExceptionMonitor', (error) => {
    // With a handler of the application, Node prints nothing, and may go on.
    const isHandled = Number(host.process?.listenerCount?.('uncaughtException')) > 0;
    if (error instanceof PaymentsError && !isHandled) uncaught = error;
  });
  // Change the error only at the exit, because Node prints it afterwards, and earlier listeners need all fields.
  onExit(() => {
    // Leave a worker's error as it is, because the thread that started the worker gets it and may need the fields.
    const threads = builtinModule('node:worker_threads') as
      Partial<typeof WorkerThreads> | undefined;
    if (uncaught === undefined || threads?.isMainThread !== true) return;
    decorate(uncaught, { stack: describeShortly(uncaught) });
    for (const name of Object.keys(uncaught)) {
      Reflect.defineProperty(uncaught, name, { enumerable: false });
    }
    for (const name of ['cause', 'errors']) Reflect.deleteProperty(uncaught, name);
  });
}
