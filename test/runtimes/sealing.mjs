// test/full/sealing.ts with the installed package in the place of the source; its
// path is the argument.
import { isRight, sealing } from '../full/sealing.ts';

const sdk = await import(process.argv[2] ?? '');
const seen = await sealing(sdk);
for (const each of seen) {
  const { method, death, arrivals, effects, outcome } = each;
  console.log(
    `${isRight(each) ? 'right' : 'WRONG'} ${method}, ${death}: ${arrivals} arrivals, ${effects} effects, ${outcome}`,
  );
}
process.exit(seen.every(isRight) ? 0 : 1);
