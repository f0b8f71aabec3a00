import { print } from '../program.ts';
import { checkPostgres } from './checks/postgres.ts';
import { checkRedis } from './checks/redis.ts';
import { checkSqlite } from './checks/sqlite.ts';
import type { StoreAddress } from './flags.ts';

/**
 * Checks a store for what can make the journal lose or hide a payment. Resolves to the exit status,
 * which is 3 if there is a problem.
 */
export async function check(store: StoreAddress): Promise<number> {
  const checks = { sqlite: checkSqlite, postgres: checkPostgres, redis: checkRedis };
  let problems = 0;
  let questions = 0;
  for await (const { name, problem, unknown } of checks[store.name](store)) {
    let line = `ok       ${name}`;
    if (problem !== undefined) {
      problems += 1;
      line = `PROBLEM  ${name}: ${problem}`;
    } else if (unknown !== undefined) {
      questions += 1;
      line = `unknown  ${name}: ${unknown}`;
    }
    print(`${line}\n`);
  }
  if (problems > 0) print(`\n${problems} to mend before anything pays.\n`);
  else
    print(questions > 0 ? '\nNo problem, but look at what is unknown.\n' : '\nThe store is fit.\n');
  return problems === 0 ? 0 : 3;
}
