import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/*
 * Counts functions that are not named by a verb, and conditional expressions: npm run names
 * `npm run names -- --list` prints each of them.
 */

const maxShareOfNouns = 0.2;
const maxConditionalsPerThousandLines = 20;

const verbs = new Set(
  `abandon abort accept acknowledge acquire act activate add adjust admit adopt advance align
  allow annotate append apply approve archive arrange ask assert assign attach audit
  authenticate authorise authorize await back bind break bring broadcast buffer build bump
  bypass cache calculate call cancel capture cast change charge check choose claim clamp
  classify clean cleanse clear climb clip cloak clone close coerce collapse collect combine
  commit communicate compare compile complete compose compress compute concatenate condense
  configure confirm connect consult consume contain continue convert copy correct count create
  credit cut deactivate decide declare decode decrease decrypt dedupe deduplicate defer define
  delay delete deliver deny depart deposit derive describe deserialize destroy detach detain
  detect determine digest discard dispatch display dispose divide do download drain draw drive
  drop elect embed emit empty enable encode encrypt end enforce enqueue enrich ensure enter
  enumerate erase escape establish estimate evaluate examine exclude execute exist expand expect
  expire explain explore export expose extend extract fail fake fetch fill filter finalize find
  finish fire fit fix flatten flush fold follow force forget format forward free freeze fulfil
  fund gather generate get give go grant group guard handle hang hide hold hook hydrate identify
  ignore import impose include increase increment indent indicate infer inform inherit init
  initialize inject insert inspect install intercept interpret interrupt intersect invalidate
  invoke iterate join justify keep kill launch leave lend let lift limit link list listen load
  locate lock log look loop lose lower make mangle map mark mask match measure merge migrate
  mint mirror mock modify monitor move mutate name narrow need negotiate normalize note notify
  obey observe obtain offer omit open overlay override pack pad paginate paint parse partition
  pass patch pause pay peek perform permit persist pick ping plan play poll pop post prefer
  prefetch prepare prepend present preserve press prevent print prioritize probe process produce
  promise prompt propagate protect prove provide prune publish pull purge push put query queue
  quit quote race raise randomize read reattribute rebase rebuild recall receive reconcile
  reconnect record recount recover recur redact redirect reduce refill refine reformat refresh
  refund regain register reinstate reissue reject relate relax relay release reload remember
  remind remove rename render renew reopen repair repeat replace replay reply report request
  require reschedule rescue resend reserve reset resize resolve respond restart restore restrict
  resume retain rethrow retire retrieve retry return reuse reveal reverse revise revive revoke
  rewrite roll rotate round run sample sanitise sanitize save scan schedule seal search see seed
  seek select send separate serialize serve set share shift shorten show shrink shuffle shut
  sign simulate skip sleep slice snapshot sort specialise split spread stall stamp start step
  stop store stream stringify strip stub subscribe substitute subtract sum summarize supply
  survive suspend swap switch sync synthesize tag take tear terminate test throttle throw tick
  tidy toggle touch trace track transform translate traverse trigger trim truncate try turn
  unbind unescape unfold unify unlock unpack unquote unset unsubscribe untie unwrap update
  upgrade upload use validate vary verify visit wait wake warn watch weigh widen wrap write zip
  allows applies belongs contains ends equals fits forbids includes involves matches needs
  proves returns shows starts supports
  as on to with is has can should`.split(/\s+/),
);

/** Names that the language or a standard interface prescribes. */
const prescribed = /^(?:then|catch|finally|now|main|\[Symbol\.\w+\])$/;

const isNamedByVerb = (name: string): boolean => {
  const [first = ''] = name.replace(/^[#_]/, '').split(/(?=[A-Z\d_])/);
  return verbs.has(first.toLowerCase());
};

interface Place {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

interface FileCounts {
  readonly file: string;
  readonly lines: number;
  readonly functions: readonly Place[];
  readonly conditionals: readonly Place[];
  readonly nested: readonly Place[];
}

/** The name of a function declaration, a method, an accessor, or an arrow that is assigned to a name. */
function functionName(node: ts.Node): string | undefined {
  const isFunction =
    (ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isGetAccessorDeclaration(node)) &&
    node.body !== undefined;
  if (isFunction) return node.name?.getText();
  const isHolder = ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node);
  if (!isHolder || node.initializer === undefined) return undefined;
  const isArrow = ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer);
  return isArrow ? node.name.getText() : undefined;
}

/** Whether a conditional expression is part of another one, without a function in between. */
function isNested(node: ts.Node): boolean {
  const { parent } = node;
  if (parent === undefined || ts.isFunctionLike(parent) || ts.isStatement(parent)) return false;
  return ts.isConditionalExpression(parent) || isNested(parent);
}

function countFile(file: string): FileCounts {
  const source = ts.createSourceFile(
    file,
    readFileSync(file, 'utf8'),
    ts.ScriptTarget.Latest,
    true,
  );
  const functions: Place[] = [];
  const conditionals: Place[] = [];
  const nested: Place[] = [];
  const visit = (node: ts.Node): void => {
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    const name = functionName(node);
    if (name !== undefined && !prescribed.test(name)) functions.push({ file, line, name });
    if (ts.isConditionalExpression(node)) {
      const place = { file, line, name: node.getText().split('\n')[0] ?? '' };
      conditionals.push(place);
      if (isNested(node)) nested.push(place);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return { file, lines: source.getLineStarts().length - 1, functions, conditionals, nested };
}

const files = execFileSync('git', ['ls-files', '--', 'src'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('.ts') && !/^src\/(?:schemas|sandbox\/page)\//.test(file))
  .map(countFile);

const isListing = process.argv.includes('--list');
const print = (line: string): boolean => process.stdout.write(`${line}\n`);
const printPlaces = (places: readonly Place[], what: string): void => {
  for (const { file, line, name } of places) print(`${file}:${line} ${what}: ${name}`);
};

const functions = files.flatMap((counts) => counts.functions);
const nouns = functions.filter(({ name }) => !isNamedByVerb(name));
const shareOfNouns = nouns.length / functions.length;
if (isListing) printPlaces(nouns, 'not a verb');

const core = files.filter(({ file }) => /^src\/(?:calls|transports|errors|lists)\//.test(file));
const lines = core.reduce((sum, counts) => sum + counts.lines, 0);
const conditionals = core.flatMap((counts) => counts.conditionals);
const nested = core.flatMap((counts) => counts.nested);
const perThousandLines = (1_000 * conditionals.length) / lines;
if (isListing) printPlaces(conditionals, 'conditional');
printPlaces(nested, 'nested conditional');

print(
  `${nouns.length} of ${functions.length} functions are not named by a verb: ${(100 * shareOfNouns).toFixed(1)} % (at most ${100 * maxShareOfNouns} %)`,
);
print(
  `${conditionals.length} conditional expressions in ${lines} lines of calls, transports, errors and lists: ${perThousandLines.toFixed(1)} per 1,000 lines (at most ${maxConditionalsPerThousandLines}), ${nested.length} nested (at most 0)`,
);
const isGood =
  shareOfNouns <= maxShareOfNouns &&
  perThousandLines <= maxConditionalsPerThousandLines &&
  nested.length === 0;
process.exitCode = isGood ? 0 : 1;
