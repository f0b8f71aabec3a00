import { execFileSync, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { dependabot, issueTemplate, workflow } from './github-schemas.ts';

// The workflows cannot run here. Their files are compared with schemas, and their commands start as far as their flags.

const root = fileURLToPath(new URL('../..', import.meta.url));
const readText = (path: string): string => readFileSync(join(root, path), 'utf8');

interface Workflow {
  readonly jobs: Readonly<
    Record<
      string,
      {
        readonly needs?: string;
        readonly permissions?: Readonly<Record<string, string>>;
        readonly strategy?: { readonly matrix: Readonly<Record<string, readonly unknown[]>> };
        readonly steps: readonly { readonly run?: string }[];
      }
    >
  >;
}

const workflows = globSync('.github/workflows/*.yml', { cwd: root }).toSorted();
const jobsOf = (path: string) =>
  Object.entries((parse(readText(path)) as Workflow).jobs).map(([id, job]) => ({ id, ...job }));

function findMistakes(schema: object, value: unknown): string {
  const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
  return ajv.validate(schema, value) ? '' : ajv.errorsText();
}

test.each(workflows)('%s is a valid GitHub workflow', (path) => {
  expect(findMistakes(workflow, parse(readText(path)))).toBe('');
  const ids = jobsOf(path).map(({ id }) => id);
  for (const { needs, strategy, steps } of jobsOf(path)) {
    if (needs !== undefined) expect(ids).toContain(needs);
    const keys = Object.keys(strategy?.matrix ?? {});
    const used = JSON.stringify(steps).matchAll(/matrix\.(\w+)/g);
    expect([...used].map(([, key]) => key).filter((key) => !keys.includes(String(key)))).toEqual(
      [],
    );
  }
});

test('the schema of GitHub workflows rejects typical mistakes', () => {
  const text = readText('.github/workflows/nightly.yml');
  const mistakes: readonly (readonly [string, string])[] = [
    ['timeout-minutes: 180', 'timeout-minute: 180'],
    ['actions/checkout@de0fac2e4500dabe0009e67214ff5f5447ce83dd', 'actions/checkout@v6'],
    ["cron: '17 2 * * *'", "cron: '61 2 * * *'"],
    ['issues: write', 'issue: write'],
    ['permissions:\n  contents: read', 'permissions:\n  contents: write'],
    ['- run: ${{ matrix.command }}', '- runs: ${{ matrix.command }}'],
    ['ubuntu-24.04', 'ubuntu-24'],
  ];
  for (const [right, wrong] of mistakes) {
    expect(text).toContain(right);
    expect(findMistakes(workflow, parse(text.replace(right, wrong))), wrong).not.toBe('');
  }
});

test('a workflow job with write permission runs no tests', () => {
  const writers = workflows
    .flatMap(jobsOf)
    .filter(({ permissions = {} }) => Object.values(permissions).includes('write'));
  expect(writers.map(({ id }) => id)).toEqual(['report', 'publish']);
  const run = writers.flatMap(({ steps }) => steps.flatMap(({ run: command = [] }) => command));
  expect(run.filter((command) => /^\.ci\/run|npm (?:run|test|start)|vitest/.test(command))).toEqual(
    [],
  );
});

test('dependabot.yml covers every folder with a package-lock.json', () => {
  const config = parse(readText('.github/dependabot.yml')) as {
    updates: { directory?: string; directories?: string[] }[];
  };
  expect(findMistakes(dependabot, config)).toBe('');
  const covered = config.updates.flatMap(({ directory = '', directories = [] }) => [
    directory,
    ...directories,
  ]);
  const tracked = execFileSync('git', ['ls-files', '*package-lock.json'], {
    cwd: root,
    encoding: 'utf8',
  });
  const folders = tracked
    .trim()
    .split('\n')
    .map((path) => `/${path.replace(/\/?package-lock\.json$/, '')}`);
  expect(folders.length).toBeGreaterThan(2);
  expect(covered).toEqual(expect.arrayContaining(folders));
});

test('CODEOWNERS names only teams, and a team owns every file', () => {
  const rules = readText('.github/CODEOWNERS')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  expect(rules[0]).toMatch(/^\* /);
  for (const rule of rules) expect(rule).toMatch(/^\S+( @[\w-]+\/[\w-]+)+$/);
});

/** Every command of the workflows, with each value of a matrix in its place. */
const commands = workflows.flatMap(jobsOf).flatMap(({ strategy, steps }) =>
  steps
    .flatMap(({ run = '' }) =>
      run === '${{ matrix.command }}'
        ? (strategy?.matrix['command'] ?? []).map(String)
        : run.split('\n'),
    )
    .map((command) => command.replaceAll('${{ github.run_number }}', '7'))
    .filter((command) => command !== ''),
);
const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> };

/** Programs of the runners, and a script that release.test.ts runs. */
const others = /^(?:sudo|git config|npm (?:ci|pkg|publish)|node \.ci\/release\.ts) /;

/** The arguments with which Node.js runs a command of the repository. */
function argumentsOf(command: string): string[] {
  const [, script = '', flags = ''] = /^npm run ([\w:]+)(?: -- (.*))?$/.exec(command) ?? [];
  if (script !== '') expect(scripts).toHaveProperty([script]);
  const line = script === '' ? command : `${scripts[script]?.split(' && ').at(-1)} ${flags}`;
  return line.trim().split(' ').slice(1);
}

test.each([...new Set(commands)].filter((command) => !others.test(command)))(
  'the command "%s" of a workflow exists and accepts its flags',
  (command) => {
    if (command.startsWith('.ci/')) {
      accessSync(join(root, command), constants.X_OK);
      return;
    }
    const [file = '', ...flags] = argumentsOf(command);
    expect(existsSync(join(root, file))).toBe(true);
    // A program rejects the first flag that it does not know, and does nothing before.
    const { status, stderr } = spawnSync(process.execPath, [file, ...flags, '--unknown'], {
      cwd: root,
      encoding: 'utf8',
      timeout: 60_000,
    });
    expect(status).toBe(1);
    expect(stderr).toMatch(/Unknown option [`']--unknown/);
  },
);

const stub = `#!/bin/sh
printf '%s\\n' "$*" >> "$LOG"
case "$1 $2" in
  'api repos/x/y/actions/runs/9/jobs?per_page=100') echo '- [npm run chaos -- --seed 7](https://example.com)' ;;
  'issue list') printf '%s' "$OPEN" ;;
esac
`;

test.each([
  ['opens an issue', '', 'issue create --title A nightly run failed --body '],
  ['adds to the open issue', '12', 'issue comment 12 --body '],
])('a failed nightly run %s with command, seed and commit', (_, open, call) => {
  const folder = mkdtempSync(join(tmpdir(), 'payments-nightly-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, 'gh'), stub, { mode: 0o755 });
  const log = join(folder, 'log');
  execFileSync(join(root, '.ci/nightly-issue'), {
    env: {
      PATH: [folder, process.env['PATH']].join(delimiter),
      LOG: log,
      OPEN: open,
      GITHUB_REPOSITORY: 'x/y',
      GITHUB_RUN_ID: '9',
      GITHUB_SHA: 'abc123',
    },
  });
  const calls = readFileSync(log, 'utf8');
  expect(calls).toContain(call);
  expect(calls).toContain('Commit: abc123');
  expect(calls).toContain('- [npm run chaos -- --seed 7](https://example.com)');
  expect(calls).not.toContain('about:');
  const [, head = ''] =
    /^---\n([^]*?)^---$/m.exec(readText('.github/ISSUE_TEMPLATE/nightly.md')) ?? [];
  expect(findMistakes(issueTemplate, parse(head))).toBe('');
});
