// The package in applications with another zod: version 3, an early 4 and the newest.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { binaries } from './runtimes.mjs';
import { lend, modules, mustRun, run } from './setup.mjs';

const zods = { '3.25.76': 'zod3', '4.0.17': 'zod4.0', '4.6.7': 'zod4.6' };

/** Works with each of them: the client, and a schema of the application that checks a response. */
const always = `
import * as z from 'zod';
import { PaymentsClient, type Transfer } from 'payments-platform-sdk';
import { TransferIdSchema, TransferSchema } from 'payments-platform-sdk/schemas';
import { Sandbox, seedDemo } from 'payments-platform-sdk/sandbox';

const expect = (holds: boolean, what: string): void => { if (!holds) throw new Error(what); };
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles for \`true\` only. */
const same = <T extends true>(..._: T[]): void => undefined;

const sandbox = new Sandbox();
seedDemo(sandbox);
const payments = new PaymentsClient(sandbox.clientOptions);
const [first] = (await payments.transfers.list()).data;
if (first === undefined) throw new Error('no transfer');
const asked = { method: 'GET', path: '/transfers/' + first.id, api: 'versioned' } as const;
const own = await payments.request({ ...asked, schema: z.object({ amount: z.string() }) });
same<Same<typeof own, { amount: string }>>();
expect(own.amount === first.amount, 'a schema of the application');
const ours = await payments.request({ ...asked, schema: TransferSchema });
same<Same<typeof ours, Transfer>>();
expect(ours.id === first.id, 'a schema of ours');
const wrong = TransferIdSchema.safeParse('ent_1');
expect(!wrong.success && wrong.error.issues[0]?.message.includes('an Entity') === true, 'a wrong id');
`;

/** Works with zod 4 only: composing schemas of the package and of the application. */
const withFour = `
import * as m from 'zod/mini';

const shape = {
  t: TransferSchema,
  o: z.optional(TransferSchema),
  l: z.array(TransferSchema),
  n: z.nullable(TransferIdSchema),
  r: z.record(TransferIdSchema, z.number()),
  u: z.union([TransferSchema, z.string()]),
  p: z.pipe(TransferSchema, z.transform((transfer) => transfer.amount)),
  z: z.lazy(() => TransferIdSchema),
};
interface Wanted {
  t: Transfer;
  o?: Transfer | undefined;
  l: Transfer[];
  n: Transfer['id'] | null;
  r: Record<Transfer['id'], number>;
  u: Transfer | string;
  p: string;
  z: Transfer['id'];
}
const Outer = z.object(shape);
same<Same<z.infer<typeof TransferSchema>, Transfer>>();
same<Same<z.input<typeof TransferSchema>, Transfer>>();
same<Same<{ [K in keyof Wanted]: Wanted[K] }, z.infer<typeof Outer>>>();
const Mini = m.object({ t: TransferSchema, o: m.optional(TransferSchema), l: m.array(TransferSchema) });
same<Same<m.infer<typeof Mini>, { t: Transfer; o?: Transfer | undefined; l: Transfer[] }>>();
// @ts-expect-error: an amount is no number
const amount = (outer: z.infer<typeof Outer>): number => outer.t.amount;

const { id } = first;
const given = { t: first, l: [first], n: null, r: { [id]: 1 }, u: first, p: first, z: id };
const parsed = Outer.parse(given);
expect(parsed.t.amount === first.amount && parsed.p === first.amount, 'parsed');
const [item = {}] = parsed.l;
expect(Object.keys(item).sort().join() === Object.keys(first).sort().join(), 'a list');
const refused = Outer.safeParse({ ...given, t: { ...first, amount: 1 }, n: 'ent_1' });
const paths = refused.error?.issues.map(({ path }) => path.join('.')).sort().join();
expect(refused.error instanceof z.ZodError && paths === 'n,t.amount', 'refused: ' + paths);
expect(Mini.safeParse({ t: first, l: [first] }).success, 'mini');
expect(!Mini.safeParse({ t: { id }, l: [] }).success, 'mini refuses');
const json = JSON.stringify(z.toJSONSchema(Outer, { io: 'input' }));
expect(json.includes('"sourceAccountId":{"type":"string"}'), json);
expect(json.includes('"pattern":"^txfr_'), json);
z.config({ customError: () => { throw new Error('of the application'); } });
const created = await payments.transfers.create({
  sourceAccountId: first.sourceAccountId, destinationAccountId: 'acc_000002', amount: '0.01',
}).catch((error: { name: string }) => error.name);
expect(typeof created !== 'string' || /^[A-Z]\\w+EntityError$/.test(created), String(created));
`;

/** Compiles and runs an application with the tarball and each zod. */
export async function zodRows({ folder, tarball }) {
  const checks = [];
  for (const [version, name] of Object.entries(zods)) {
    const project = join(folder, name);
    mkdirSync(project);
    writeFileSync(join(project, 'package.json'), '{ "private": true }\n');
    const output = await mustRun(
      'npm',
      ['install', '--no-audit', '--no-fund', '--install-links', tarball, join(modules, name)],
      { cwd: project },
    );
    const others = readdirSync(join(project, 'node_modules')).filter(
      (each) => !each.startsWith('.'),
    );
    const isAlone = others.join() === 'payments-platform-sdk,zod';
    lend(project, '@types/node');
    const text = version.startsWith('3') ? always : always + withFour;
    writeFileSync(join(project, 'application.mts'), text);
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2022',
      lib: ['ES2022'],
      types: ['node'],
      strict: true,
      exactOptionalPropertyTypes: true,
      noEmit: true,
      // zod 3 and 4.0 do not pass a compiler that looks into declarations as strictly as ours do.
      skipLibCheck: true,
    };
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, files: ['application.mts'] }),
    );
    const tsc = join(modules, 'typescript60/bin/tsc');
    const compiled = await run(process.execPath, [tsc, '-p', project], { cwd: project });
    const ran = await run(binaries.node24, ['application.mts'], { cwd: project });
    checks.push({
      name: `an application with zod beside it is compiled and run, ${version}`,
      ok: isAlone && compiled.code === 0 && ran.code === 0,
      detail: [output, others.join(), compiled.stdout, ran.stderr].join('\n').slice(0, 3000),
    });
  }
  return checks;
}
