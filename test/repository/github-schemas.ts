/*
 * What GitHub accepts in the files of .github, as JSON schemas. They are written by hand, because no npm package has the
 * public ones with a licence and a maintainer that a tool of this package needs, and they allow only what is used here.
 */

const string = { type: 'string', minLength: 1 };
const strings = { type: 'array', items: string, minItems: 1 };
const closed = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const access = { enum: ['read', 'write', 'none'] };
const permissions = closed({
  actions: access,
  contents: access,
  'id-token': access,
  issues: access,
});
const env = { type: 'object', additionalProperties: string };

const step = {
  oneOf: [
    closed(
      {
        // The hash of a commit, because whoever owns an action can move its tags.
        uses: { type: 'string', pattern: '^[\\w-]+/[\\w-]+@[0-9a-f]{40}$' },
        with: { type: 'object', additionalProperties: { type: ['string', 'number', 'boolean'] } },
        if: string,
      },
      ['uses'],
    ),
    closed({ run: string, env, if: string }, ['run']),
  ],
};

const job = closed(
  {
    name: string,
    needs: string,
    if: string,
    'runs-on': {
      enum: ['ubuntu-24.04', 'macos-15', 'windows-2025', '${{ matrix.os }}'],
    },
    // Without a limit a job that hangs runs for six hours.
    'timeout-minutes': { type: 'integer', maximum: 180 },
    permissions,
    strategy: closed(
      {
        'fail-fast': { type: 'boolean' },
        matrix: {
          type: 'object',
          properties: { include: { type: 'array', items: { type: 'object' } } },
          additionalProperties: { type: 'array', minItems: 1 },
        },
      },
      ['matrix'],
    ),
    steps: { type: 'array', items: step, minItems: 1 },
  },
  ['runs-on', 'timeout-minutes', 'steps'],
);

export const workflow = closed(
  {
    name: string,
    on: closed({
      push: { oneOf: [{ type: 'null' }, closed({ tags: strings, branches: strings })] },
      pull_request: { type: 'null' },
      workflow_dispatch: { type: 'null' },
      schedule: {
        type: 'array',
        items: closed({ cron: { type: 'string', pattern: '^[0-5]?\\d [01]?\\d \\* \\* \\*$' } }, [
          'cron',
        ]),
      },
    }),
    permissions: { const: { contents: 'read' } },
    concurrency: closed({ group: string, 'cancel-in-progress': { type: 'boolean' } }, ['group']),
    jobs: { type: 'object', additionalProperties: job, minProperties: 1 },
  },
  ['name', 'on', 'permissions', 'jobs'],
);

const updateType = {
  enum: [
    'version-update:semver-major',
    'version-update:semver-minor',
    'version-update:semver-patch',
  ],
};
const ecosystem = closed(
  {
    'package-ecosystem': { enum: ['npm', 'github-actions'] },
    directory: { type: 'string', pattern: '^/' },
    directories: { type: 'array', items: { type: 'string', pattern: '^/' } },
    schedule: closed({ interval: { enum: ['daily', 'weekly', 'monthly'] } }, ['interval']),
    cooldown: closed({ 'default-days': { type: 'integer', minimum: 1, maximum: 90 } }),
    groups: {
      type: 'object',
      additionalProperties: closed({ patterns: strings, 'exclude-patterns': strings }),
    },
    ignore: {
      type: 'array',
      items: closed(
        { 'dependency-name': string, 'update-types': { type: 'array', items: updateType } },
        ['dependency-name'],
      ),
    },
  },
  ['package-ecosystem', 'schedule'],
);

export const dependabot = closed(
  { version: { const: 2 }, updates: { type: 'array', items: ecosystem, minItems: 1 } },
  ['version', 'updates'],
);

/** The head of a file in .github/ISSUE_TEMPLATE. */
export const issueTemplate = closed({ name: string, about: string, title: string }, [
  'name',
  'about',
]);
