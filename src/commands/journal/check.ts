import { print } from '../program.ts';
import { checkPostgres } from './checks/postgres.ts';
import { checkRedis } from './checks/redis.ts';
import { checkSqlite } from './checks/sqlite.ts';
import type { StoreAddress } from './flags.ts';

/**
 * Asks a store everything that can make the journal lose or hide a payment. Resolves to the exit
 * status, which is 3 if there is a problem.
 */
export async function check(store: StoreAddress): Promise<number> {
  const checks = { sqlite: checkSqlite, postgres: checkPostgres, redis: checkRedis };
  let problems = 0;
  for await (const { name, problem, unknown } of checks[store.name](store)) {
    if (problem !== undefined) problems += 1;
    const word = problem === undefined ? (unknown && 'unknown') || 'ok' : 'PROBLEM';
    const text = problem ?? unknown;
    print(`${word.padEnd(7)}  ${name}${text === undefined ? '' : `: ${text}`}\n`);
  }
  print(problems === 0 ? '\nThe store is fit.\n' : `\n${problems} to mend before anything pays.\n`);
  return problems === 0 ? 0 : 3;
}
