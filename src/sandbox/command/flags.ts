import { parseFlags, UsageError } from '../../commands/program.ts';
import { maxTimerMs } from '../../internal/runtime.ts';
import { parseHostName } from '../platform/hosts.ts';

export const usage = `Usage: payments-sandbox [options]

Starts a payments Platform in memory and runs it until it is interrupted. The page at its
address shows what happens; /_sandbox/ controls it from any language: docs/test.md.

Options:
  --port <number>          port to listen on; 0 takes any free one (default: 4010)
  --host <name>            address to listen on (default: 127.0.0.1)
  --allow-host <name>      another name of this host, such as a container's; repeatable
  --seed demo|<file.json>  start with small demo data, or with a state from a file
  --state <file.json>      keep everything in this file, and restore it; it wins over --seed
  --auto <ms>|off          time between the automatic steps (default: 1000)
  --latency <ms>           time before every response (default: 0)
  --webhook <module.mjs>   the shape of notifications to the webhookUrl, a default export
  --webhook-host <name>    a host that notifications may reach, besides localhost; repeatable
  --failures <percent>     share of the requests that fail
  --failures-seed <n>      selects other requests, the same ones in every run (default: 1)
  --quiet                  print no line for each request
  --version                print the version and exit
  --help                   print this text and exit
`;

export type Flags = ReturnType<typeof readFlags>;

/**
 * Reads the flags of the command payments-sandbox.
 * @throws UsageError if a flag is unknown or its value is not valid.
 */
export function readFlags(args: string[]) {
  const { values } = parseFlags(args, {
    port: { type: 'string', default: '4010' },
    host: { type: 'string', default: '127.0.0.1' },
    'allow-host': { type: 'string', multiple: true, default: [] },
    seed: { type: 'string' },
    state: { type: 'string' },
    auto: { type: 'string', default: '1000' },
    latency: { type: 'string', default: '0' },
    webhook: { type: 'string' },
    'webhook-host': { type: 'string', multiple: true, default: [] },
    failures: { type: 'string', default: '0' },
    'failures-seed': { type: 'string', default: '1' },
    quiet: { type: 'boolean', default: false },
    version: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  });
  const { seed, state, webhook, quiet, version, help } = values;
  if (seed !== undefined && seed !== 'demo' && !seed.endsWith('.json')) {
    throw new UsageError(`--seed takes "demo" or the name of a .json file, not "${seed}".`);
  }
  if (state === '') throw new UsageError('--state takes the name of a file, not "".');
  if (webhook === '') throw new UsageError('--webhook takes the name of a module, not "".');
  return {
    port: parseWholeNumber('--port', values.port, 0, 65_535),
    host: values.host,
    allowHosts: values['allow-host'],
    /** What the sandbox starts with: `demo`, a .json file with a state, or nothing (undefined). */
    seed,
    state,
    autoAdvance:
      values.auto === 'off'
        ? undefined
        : parseWholeNumber('--auto', values.auto, 1, maxTimerMs, ', or "off"'),
    latency: parseWholeNumber('--latency', values.latency, 0, maxTimerMs),
    webhook,
    webhookHosts: values['webhook-host'].map(parseHost),
    failures: parsePercent(values.failures),
    failuresSeed: parseWholeNumber('--failures-seed', values['failures-seed'], 0, maxTimerMs),
    quiet,
    version,
    help,
  };
}

function parseWholeNumber(
  flag: string,
  text: string,
  least: number,
  most: number,
  or = '',
): number {
  const value = Number(text);
  if (/^\d{1,10}$/.test(text) && value >= least && value <= most) return value;
  throw new UsageError(`${flag} takes a number from ${least} to ${most}${or}, not "${text}".`);
}

function parseHost(text: string): string {
  const name = parseHostName(text);
  if (name !== undefined) return name;
  throw new UsageError(`--webhook-host takes the name of a host, not "${text}".`);
}

function parsePercent(text: string): number {
  if (/^\d{1,3}(\.\d{1,6})?$/.test(text) && Number(text) <= 100) return Number(text);
  throw new UsageError(`--failures takes a number from 0 to 100, not "${text}".`);
}
