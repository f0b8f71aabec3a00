// Runs test/drivers/sealing.ts with the installed package, whose path is the argument.
import { isSentOnce, writeOverDyingConnections } from '../drivers/sealing.ts';

const sdk = await import(process.argv[2] ?? '');
const results = await writeOverDyingConnections(sdk);
for (const result of results) {
  const { method, death, arrivals, effects, outcome } = result;
  console.log(
    `${isSentOnce(result) ? 'right' : 'WRONG'} ${method}, ${death}: ${arrivals} arrivals, ${effects} effects, ${outcome}`,
  );
}
process.exit(results.every(isSentOnce) ? 0 : 1);
