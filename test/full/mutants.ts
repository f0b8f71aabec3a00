import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { changedFiles, source, type Change, type Mutant } from '../mutants/apply.ts';
import { mutants } from '../mutants/mutants.ts';

/*
 * Copies of the source that are wrong, for what runs on every runtime. What Node can see is in
 * ../mutants and dies by the core; the rest is here.
 */

export interface Variant extends Omit<Mutant, 'tests'> {
  /** Whether the run may put a replaying dispatcher in the place of Node's own. @default true */
  readonly replays?: boolean;
}

const change = (file: string, from: string, to: string): Change => ({ file, from, to });

/** Wrong only in how Bun or Deno is spoken to, which nobody can see on Node. */
export const elsewhere: readonly (Variant & { readonly on: readonly ('bun' | 'deno')[] })[] = [
  {
    name: 'nothing is sealed',
    on: ['bun', 'deno'],
    changes: [
      change('transports/fetch.ts', "runtime() === 'deno' ? new Blob([text]) : text", 'text'),
      change('transports/fetch.ts', "  if (kind === 'safe') return {};", '  if (kind) return {};'),
    ],
  },
  {
    name: 'Deno’s own bridge carries the body of node:http',
    on: ['deno'],
    changes: [
      change(
        'transports/node-http.ts',
        ': webStream(incomingBody),',
        ": (builtinModule('node:stream') as typeof NodeStream).Readable.toWeb(incomingBody),",
      ),
    ],
  },
];

/** Another right way, which has to pass. */
export const control: Variant = {
  name: 'control: Node’s fetch instead of its dispatcher',
  changes: [
    change(
      'transports/dispatcher.ts',
      'export function dispatcherTransport(): Transport | undefined {',
      'export function dispatcherTransport(): Transport | undefined {\n  if (runtime() === "node") return undefined;',
    ),
  ],
  // fetch cannot tell that somebody replayed its request.
  replays: false,
};

export const variants: readonly Variant[] = [...mutants, ...elsewhere, control];

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

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
  for (const [path, text] of texts) writeFileSync(join(copy, 'src', relative(source, path)), text);
  return pathToFileURL(join(copy, 'src', 'index.ts')).href;
}
