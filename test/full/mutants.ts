import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/*
 * Wrong policies. A suite that lets one of them live would not have noticed the mistake in the SDK
 * either. Each is a replacement in the text of the source; one that no longer applies is an error.
 */

interface Change {
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Variant {
  readonly name: string;
  /** Where it is wrong. A mistake of how Bun or Deno is spoken to cannot be seen on Node. */
  readonly on: readonly ('node' | 'bun' | 'deno')[];
  readonly changes: readonly Change[];
  /** `dies` is a wrong policy; `lives` is another right one, which must pass. */
  readonly expected: 'dies' | 'lives';
  /** Whether the run may put a replaying dispatcher in the place of Node's own. @default true */
  readonly replays?: boolean;
}

const everywhere = ['node', 'bun', 'deno'] as const;
const node = ['node'] as const;

const mutant = (name: string, on: Variant['on'], ...changes: readonly Change[]): Variant => ({
  name,
  on,
  changes,
  expected: 'dies',
});

const change = (file: string, from: string, to: string): Change => ({ file, from, to });

const throughFetch = change(
  'wires/dispatcher.ts',
  'export function dispatcherWire(): Wire | undefined {',
  'export function dispatcherWire(): Wire | undefined {\n  if (runtime() === "node") return undefined;',
);

export const variants: readonly Variant[] = [
  mutant(
    'a write is sent again after a broken connection',
    everywhere,
    change(
      'calls/retry.ts',
      "kind === 'safe' || failed.outcome === 'not_sent'",
      "kind === 'safe' || failed.status === undefined || failed.outcome === 'not_sent'",
    ),
  ),
  mutant(
    '503 is a refusal',
    everywhere,
    change('errors/outcome.ts', 'status === 308 ||', 'status === 308 || status === 503 ||'),
  ),
  mutant(
    '503 is sent again',
    everywhere,
    change('calls/retry.ts', 'status === 425 ||', 'status === 425 || status === 503 ||'),
    change('calls/retry.ts', "failed.outcome === 'rejected' && refusedForNow", 'refusedForNow'),
  ),
  mutant(
    '408 is a refusal',
    everywhere,
    change(
      'errors/outcome.ts',
      "status === 408 || status === 499 ? 'unknown'",
      "status === 499 ? 'unknown'",
    ),
  ),
  mutant(
    '302 is a refusal',
    everywhere,
    change('errors/outcome.ts', 'status === 307 ||', 'status === 302 || status === 307 ||'),
  ),
  mutant(
    'redirects are followed',
    everywhere,
    throughFetch,
    change('calls/attempt.ts', "redirect: 'manual'", "redirect: 'follow'"),
  ),
  mutant(
    'ECONNRESET means not sent',
    ['node', 'bun'],
    change(
      'errors/outcome.ts',
      "outcome: proven ? 'not_sent' : 'unknown'",
      "outcome: proven || code === 'ECONNRESET' ? 'not_sent' : 'unknown'",
    ),
  ),
  mutant(
    'the word of the wire is turned round',
    node,
    change('errors/outcome.ts', ': !evidence.started;', ': evidence.started;'),
  ),
  mutant(
    'the word of the wire is not heard',
    node,
    change('errors/outcome.ts', 'evidence.started === undefined\n', 'evidence !== undefined\n'),
    change('errors/outcome.ts', 'evidence.foreign !== true &&', ''),
  ),
  mutant(
    'the wire forgets that it started',
    node,
    change('wires/dispatcher.ts', 'this.#trace.started = true;', ''),
  ),
  mutant(
    'an abort means not sent',
    everywhere,
    change(
      'calls/attempt.ts',
      'return aborted(why.reason, outcome,',
      "return aborted(why.reason, 'not_sent',",
    ),
  ),
  mutant(
    'the gate stands open',
    everywhere,
    change(
      'calls/gate.ts',
      'this.#closedUntil === undefined) return this.#noteThrottle',
      'this.#clock !== undefined) return this.#noteThrottle',
    ),
  ),
  mutant(
    'the last attempt decides',
    everywhere,
    change(
      'errors/outcome.ts',
      'severity[outcome] > severity[worst] ? outcome : worst',
      'worst && outcome',
    ),
  ),
  mutant(
    'a success that cannot be read is a refusal',
    everywhere,
    change(
      'errors/failure.ts',
      "'unusable' as const,\n  outcome: 'unknown' as const",
      "'unusable' as const,\n  outcome: 'rejected' as const",
    ),
  ),
  mutant(
    'every attempt has a key of its own',
    everywhere,
    change(
      'calls/attempt.ts',
      'headers = { ...prepared.headers, authorization',
      "headers = { ...prepared.headers, ...(prepared.idempotencyKey && { 'idempotency-key': crypto.randomUUID() }), authorization",
    ),
  ),
  mutant(
    'credentials are not redacted',
    everywhere,
    change(
      'errors/redact.ts',
      '  return (text) => {\n',
      '  if (secrets) return (text) => text;\n  return (text) => {\n',
    ),
  ),
  mutant(
    'nothing is sealed',
    ['bun', 'deno'],
    change('wires/fetch.ts', "runtime() === 'deno' ? new Blob([text]) : text", 'text'),
    change('wires/fetch.ts', "  if (kind === 'safe') return {};", '  if (kind) return {};'),
  ),
  mutant(
    'Deno’s own bridge carries the body of node:http',
    ['deno'],
    change(
      'wires/node-http.ts',
      ': webStream(incomingBody),',
      ": (builtin('node:stream') as typeof NodeStream).Readable.toWeb(incomingBody),",
    ),
  ),
  {
    name: 'control: Node’s fetch instead of its dispatcher',
    on: node,
    changes: [throughFetch],
    expected: 'lives',
    // fetch cannot tell that somebody replayed its request.
    replays: false,
  },
];

const source = fileURLToPath(new URL('../../src', import.meta.url));
const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** The text of every file that a variant changes. Throws when a change does not apply. */
export function changedFiles({ name, changes }: Variant): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, from, to } of changes) {
    const text = texts.get(file) ?? readFileSync(join(source, file), 'utf8');
    if (text.split(from).length !== 2) {
      throw new Error(`"${name}" does not apply: ${file} has to hold once\n${from}`);
    }
    texts.set(
      file,
      text.replace(from, () => to),
    );
  }
  return texts;
}

/** Makes a copy of the source with the changes, for this process; returns what to import. */
export function applyVariant(variant: Variant): string {
  const texts = changedFiles(variant);
  const copy = mkdtempSync(join(tmpdir(), 'payments-mutant-'));
  process.on('exit', () => {
    rmSync(copy, { recursive: true, force: true });
  });
  cpSync(source, join(copy, 'src'), { recursive: true });
  // Node strips no types below node_modules, so the copy lies elsewhere and borrows them.
  symlinkSync(modules, join(copy, 'node_modules'));
  writeFileSync(
    join(copy, 'package.json'),
    '{ "type": "module", "dependencies": { "ky": "*", "zod": "*" } }',
  );
  for (const [file, text] of texts) writeFileSync(join(copy, 'src', file), text);
  return pathToFileURL(join(copy, 'src', 'index.ts')).href;
}
