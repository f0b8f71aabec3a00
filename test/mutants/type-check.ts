import { globSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { changedFiles, source, type Mutant } from './apply.ts';

const root = join(source, '..');

/**
 * Returns a function that tells whether TypeScript accepts the files that a mutant changes, because
 * `npm run types` finds the other mutants without a test.
 */
export function createTypeCheck(): (mutant: Mutant) => boolean {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile) as {
    config: unknown;
  };
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  let changed = new Map<string, string>();
  let version = 0;
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () =>
      globSync('**/*.ts', { cwd: source }).map((file) => join(source, file)),
    getScriptVersion: (path) => (changed.has(path) ? String(version) : ''),
    getScriptSnapshot: (path) =>
      ts.ScriptSnapshot.fromString(changed.get(path) ?? ts.sys.readFile(path) ?? ''),
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  });
  return (mutant) => {
    changed = changedFiles(mutant);
    version += 1;
    return [...changed.keys()].every((path) => service.getSemanticDiagnostics(path).length === 0);
  };
}
