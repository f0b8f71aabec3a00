import { findSimilar } from '../../internal/text.ts';
import { isTableName } from '../../journals/postgres.ts';
import { parseFlags, UsageError } from '../program.ts';

export const usage = `Usage: payments-journal <command> <store> [options]

Shows, finishes and decides payments that are open: docs/operate.md.

Commands:
  list                         list the open payments, and what comes next
  show <reference>             print what is known about one payment, and what comes next
  finish [<reference>...]      search the platform's list for open payments, and record those that
                               it shows. Sends nothing, unless you pass --client
  decide <reference> <id>      record that this transfer is the payment
  decide <reference> not_paid  search for the payment, and record that it was not made, so that its
                               next job pays it
  check                        find what makes the store lose payments, or hide them
  stats                        print the number, age and sums of the open payments
  migrate                      bring a journal of 0.3 or 0.4 up to date, or mend its index, while
                               nothing pays
  prune --paid-before <date>   remove payments that were paid before; a job that is repeated pays again,
                               unless you pass --keep-references

The store, one of them:
  --sqlite <file>
  --postgres <url>             needs pg in your project; takes the schema from Prisma's ?schema=
  --table <name>               the table of --postgres, if it is not payments_journal
  --redis <url>                needs ioredis in your project
  --prefix <text>              the key prefix of your Redis client

Options:
  --older-than <time>          of list: only payments first claimed longer ago, such as 90s, 20m, 2h, 3d
  --client <file>              of finish: pay what was not made, by the client of your service, which
                               this module has as its default export. Needs no store
  --dry-run                    of migrate: print the statements, and change nothing
  --keep-references            of prune: keep reference and transfer id, and drop all other terms
  --json                       of list, show, stats and prune: print JSON
  --prometheus                 of stats: print lines for Prometheus
  --by <name>                  of decide and finish: your name, which the entry keeps
  --force                      of decide: dismiss the transfers that the list shows, decide in the
                               grace period, or replace a recorded transfer
  --transfers-filter <name>    of decide and finish: your client's platform.transfersFilter, or false
  --platform <url>             of decide: the platform of the entry, if its address has changed since
  --yes                        of decide, and of finish with --client: do not ask
  --version                    print the version and exit
  --help                       print this text and exit

decide and finish ask the platform that PAYMENTS_BASE_URL and PAYMENTS_API_KEY name; with them, show
prints the candidates.
Status: 0 done, 1 failed, 2 wrong arguments or a missing package, 3 somebody has to look: list or
finish leaves open payments, check has found a problem, or migrate entries of one reference.
`;

const storeNames = ['sqlite', 'postgres', 'redis'] as const;

export type Command = Exclude<ReturnType<typeof readCommand>, { name: 'help' | 'version' }>;
export type StoreCommand = Command & { readonly store: StoreAddress };

/** The kind of a journal's store, and its file or URL. */
export type StoreAddress = ReturnType<typeof readStoreAddress>;

const options = {
  sqlite: { type: 'string' },
  postgres: { type: 'string' },
  table: { type: 'string' },
  redis: { type: 'string' },
  prefix: { type: 'string' },
  'older-than': { type: 'string' },
  'paid-before': { type: 'string' },
  client: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  'keep-references': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  prometheus: { type: 'boolean', default: false },
  by: { type: 'string' },
  'transfers-filter': { type: 'string' },
  force: { type: 'boolean', default: false },
  platform: { type: 'string' },
  yes: { type: 'boolean', default: false },
  version: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

/** Each command's arguments and its own options. The options that name the store are not listed. */
const commands = {
  list: { arguments: [], options: ['older-than', 'json'] },
  show: { arguments: ['reference'], options: ['json'] },
  finish: { arguments: 'references', options: ['client', 'by', 'transfers-filter', 'yes'] },
  decide: {
    arguments: ['reference', 'id or not_paid'],
    options: ['by', 'transfers-filter', 'force', 'platform', 'yes'],
  },
  check: { arguments: [], options: [] },
  stats: { arguments: [], options: ['json', 'prometheus'] },
  prune: { arguments: [], options: ['paid-before', 'keep-references', 'json'] },
  migrate: { arguments: [], options: ['dry-run'] },
} as const;

const isCommand = (name: string): name is keyof typeof commands => Object.hasOwn(commands, name);

/**
 * Reads the command line. An option that the command does not have is an error.
 * @throws UsageError for wrong arguments
 */
export function readCommand(args: string[]) {
  const { values, positionals } = parse(args);
  if (values.help) return { name: 'help' } as const;
  if (values.version) return { name: 'version' } as const;
  const [name = '', ...references] = positionals;
  if (!isCommand(name)) {
    const problem = name === '' ? 'A command is missing' : `There is no command "${name}"`;
    const names = Object.keys(commands);
    const similar = findSimilar(name, names);
    throw new UsageError(
      similar === undefined
        ? `${problem}. The commands are ${names.join(', ')}.`
        : `${problem}; did you mean ${similar}?`,
    );
  }
  const command = commands[name];
  if (command.arguments !== 'references' && references.length !== command.arguments.length) {
    const expected = command.arguments.map((each) => ` <${each}>`).join('');
    const { length } = command.arguments;
    const count = ['no arguments', 'one argument'][length] ?? `${length} arguments`;
    throw new UsageError(
      `${name} takes ${count} (${name}${expected}), but got ${references.length || 'none'}.`,
    );
  }
  const allowed = new Set<string>([...storeNames, 'table', 'prefix', ...command.options]);
  // A boolean option that was not given is false, and a string option is absent.
  const wrongOption = Object.entries(values).find(
    ([flag, value]) => value !== false && !allowed.has(flag),
  );
  if (wrongOption !== undefined) throw new UsageError(`${name} has no option --${wrongOption[0]}.`);
  const [reference = '', verdict = ''] = references;
  const { client, json, prometheus, by, force, platform, yes } = values;
  const filter = values['transfers-filter'];
  if (json && prometheus) throw new UsageError('--json and --prometheus exclude each other.');
  if (client !== undefined && (by ?? filter) !== undefined) {
    throw new UsageError('--client has options of its own: leave out --by and --transfers-filter.');
  }
  // With `client` no store is needed, because the service's client has a journal of its own.
  const needsStore = client === undefined || storeNames.some((each) => values[each] !== undefined);
  const store = needsStore ? readStoreAddress(values) : undefined;
  if (name === 'decide' && verdict !== 'not_paid' && !verdict.startsWith('txfr_')) {
    throw new UsageError(
      `decide takes the id of a Transfer, txfr_…, or not_paid, and not "${verdict}".`,
    );
  }
  return {
    name,
    store,
    references,
    reference,
    verdict,
    client,
    json,
    prometheus,
    by,
    force,
    platform,
    yes,
    transfersFilter: filter === 'false' ? (false as const) : filter,
    isDryRun: values['dry-run'],
    keepReferences: values['keep-references'],
    olderThan: parseAge(values['older-than']),
    paidBefore: name === 'prune' ? parseDate(values['paid-before']) : new Date(0),
  };
}

const parse = (args: string[]) => parseFlags(args, options, true);

/** @throws UsageError unless exactly one store is given, with an address and with its own options */
function readStoreAddress(values: ReturnType<typeof parse>['values']) {
  const { table, prefix, 'transfers-filter': filter } = values;
  const stores = storeNames.flatMap((name) => {
    const address = values[name];
    return address === undefined ? [] : [{ name, address, table, prefix, filter }];
  });
  const [store] = stores;
  if (store === undefined || stores.length > 1) {
    throw new UsageError(
      `Exactly one of --sqlite, --postgres and --redis is needed, but got ${stores.length || 'none'}.`,
    );
  }
  if (store.address === '') {
    throw new UsageError(`--${store.name} is empty. Check the variable that holds it.`);
  }
  if (prefix !== undefined && store.name !== 'redis') {
    throw new UsageError('--prefix needs --redis.');
  }
  if (table !== undefined && store.name !== 'postgres') {
    throw new UsageError('--table needs --postgres.');
  }
  if (table !== undefined && !isTableName(table)) {
    throw new UsageError(
      `--table takes the name of a table as SQL has it, such as payments.payments_journal, and not "${table}".`,
    );
  }
  return store;
}

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

function parseAge(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (unitMs[unit] ?? 0);
  if (ms > 0) return ms;
  throw new UsageError(
    `--older-than takes a number above 0 and a unit, such as 90s, 20m, 2h or 3d, and not "${text}".`,
  );
}

const datePattern = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;

/** Parses the value of `--paid-before`, which must be a date in the past. */
function parseDate(text: string | undefined): Date {
  if (text === undefined) throw new UsageError('prune needs --paid-before <date>.');
  const date = new Date(datePattern.test(text) ? text : NaN);
  if (Number.isNaN(date.getTime())) {
    throw new UsageError(
      `--paid-before takes a date, such as 2026-01-31 or 2026-01-31T12:00:00Z, and not "${text}".`,
    );
  }
  // A future date would also prune payments that were just made, and createOnce would repeat them.
  if (date.getTime() > Date.now()) {
    throw new UsageError(`--paid-before ${text} is in the future.`);
  }
  return date;
}
