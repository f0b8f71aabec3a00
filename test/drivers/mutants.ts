import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { changedFiles, source, type Change, type Mutant } from '../mutants/apply.ts';
import { mutants } from '../mutants/mutants.ts';

/*
 * Makes copies of the source with a planted mistake, for scripts that run on every runtime.
 * ../mutants has the mistakes that the core finds on Node, and this file has the others.
 */

export type Variant = Omit<Mutant, 'tests'>;

const change = (place: string, from: string, to: string): Change => ({ place, from, to });

/** Mistakes that only Bun or Deno shows. */
export const runtimeMutants: readonly (Variant & { readonly on: readonly ('bun' | 'deno')[] })[] = [
  {
    name: 'nothing is sealed',
    on: ['bun', 'deno'],
    changes: [
      change('transports/fetch.ts', "runtime() === 'deno' ? new Blob([text]) : text", 'text'),
      change('transports/fetch.ts', "kind === 'safe' && scan", 'kind && scan'),
    ],
  },
];

/** A variant without a mistake, which has to pass. */
export const control: Variant = {
  name: 'control: Node’s fetch instead of node:http',
  changes: [
    change(
      'transports/node-http.ts',
      "runtime() !== 'node' || isBrowser()",
      "runtime() === 'node' || isBrowser()",
    ),
  ],
};

export const variants: readonly Variant[] = [...mutants, ...runtimeMutants, control];

const modules = fileURLToPath(new URL('../../node_modules', import.meta.url));

/** Copies the source with the changes. Returns the URL of the entry point of the copy. */
export function applyVariant(variant: Variant): string {
  const texts = changedFiles(variant);
  const copy = mkdtempSync(join(tmpdir(), 'payments-mutant-'));
  process.on('exit', () => {
    rmSync(copy, { recursive: true, force: true });
  });
  cpSync(source, join(copy, 'src'), { recursive: true });
  // Node strips no types below node_modules, so the copy is elsewhere and links to node_modules.
  symlinkSync(modules, join(copy, 'node_modules'));
  writeFileSync(
    join(copy, 'package.json'),
    '{ "type": "module", "dependencies": { "ky": "*", "zod": "*" } }',
  );
  for (const [path, text] of texts) writeFileSync(join(copy, 'src', relative(source, path)), text);
  return pathToFileURL(join(copy, 'src', 'index.ts')).href;
}
