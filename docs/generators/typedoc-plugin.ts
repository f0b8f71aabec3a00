// Groups the API reference by resource. The file of a declaration decides its resource, so that no
// docstring needs a tag, which editors would show on every hover. The plugin also adds the page "HTTP API" and the
// files that are not pages: openapi.json, llms.txt, and the guides and examples that llms.txt links to.
import { cpSync, globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  Application,
  Comment,
  CommentTag,
  Converter,
  DocumentReflection,
  JSX,
  ReflectionKind,
  RendererEvent,
  type CommentDisplayPart,
  type Context,
  type DeclarationReflection,
  type ProjectReflection,
  type Reflection,
} from 'typedoc';
import ts from 'typescript';
import { nounTable } from '../../src/internal/formats.ts';
import { openApi } from '../../src/sandbox/openapi/openapi.ts';
import { httpApiPage } from './http-api.ts';
import { llmsText, takeTitle } from './llms.ts';
import { visitTypes } from './public-api.ts';

/** The categories of the site, in order. The headings of the guides come first. */
const getCategoryOrder = (): string[] => [
  ...['Start', 'Pay', 'Operate', 'Test', 'Reference', 'Decisions', 'Client', 'Transfers'],
  ...recordNouns.map(([, heading]) => heading),
  ...['Settings', 'Instructions', 'Transactions', 'Errors', 'Paging', 'Watching'],
  ...['Calls and values', 'Journals', 'Sandbox', 'Faults and log', 'Changes and webhooks', '*'],
];

/** Matches files of a noun, and names of a noun in files with several nouns: `/id-converters.ts accountId`. */
const matchNoun = (noun: string): RegExp =>
  new RegExp(`/(${noun})\\.ts |/(index|id-converters)\\.ts (${noun})`, 'i');

/** The nouns whose records have ids, with their headings, such as `IBANs`. */
const recordNouns = Object.entries(nounTable).map(([plural, { name }]): [RegExp, string] => {
  const [, record = ''] = name.split(' ');
  return [matchNoun(`${record}|${plural}`), `${record.replace(/y$/, 'ie')}s`];
});

/** The first pattern that matches the file and the name of a declaration. */
const nouns: readonly (readonly [RegExp, string])[] = [
  [/\/sandbox\/(faults\/|log\.ts|api\/operations)/, 'Faults and log'],
  [/\/sandbox\/(webhooks\/|platform\/changes)/, 'Changes and webhooks'],
  [/\/(client|client-options|calls\/time|credential|version)\.ts/, 'Client'],
  [/\/(once|search|books)\/|\/(transfer-status|wait-for)\.ts/, 'Transfers'],
  [matchNoun('once-?input'), 'Transfers'],
  ...recordNouns,
  [matchNoun('settings'), 'Settings'],
  [matchNoun('(built)?instructions?|executionstate'), 'Instructions'],
  [matchNoun('transactions?'), 'Transactions'],
  [matchNoun('errors|error-?body|status-for-caller'), 'Errors'],
  [/\/(internal\/issues|errors\/(json|outcome))\.ts/, 'Errors'],
  [/\/internal\/formats\.ts/, 'Changes and webhooks'],
  [matchNoun('pager|page'), 'Paging'],
  [/\/hooks\.ts/, 'Watching'],
  [/\/journals\//, 'Journals'],
  [/\/sandbox\//, 'Sandbox'],
  [/\/(transports|calls|schemas)\/|\/amounts\.ts/, 'Calls and values'],
];

/**
 * Part of each page: no request for an icon, tables and names that fit a narrow window, and a navigation that shows the
 * guides on a first visit. typedoc remembers what a reader opens and closes.
 */
const head = `<link rel="icon" href="data:,"/><style>
.tsd-typography table { display: block; overflow-x: auto; }
.tsd-typography :is(td, th) { padding: 4px 6px; }
.tsd-typography code { overflow-wrap: break-word; }
</style><script>
for (const part of ['Start', 'Pay', 'Operate', 'Test']) localStorage['tsd-accordion-' + part] ??= 'true';
</script>`;

/** The headings of the guides, as in README.md. */
const categories: readonly (readonly [RegExp, string])[] = [
  [/^decisions\//, 'Decisions'],
  [/^(getting-started|going-live)$/, 'Start'],
  [/^(pay|journals|proof)$/, 'Pay'],
  [/^(fail|operate)$/, 'Operate'],
  [/^test$/, 'Test'],
];

const categorise = (reflection: Reflection, category: string): void => {
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(
    new CommentTag('@category', [{ kind: 'text', text: category }]),
  );
};

/** Replaces `{@link transfers.create}` by a link to the method. */
function linkMethods(project: ProjectReflection, text: string): CommentDisplayPart[] {
  return text.split(/\{@link ([\w.]+)\}/).map((part, index): CommentDisplayPart => {
    if (index % 2 === 0) return { kind: 'text', text: part };
    const path = part
      .replace('settings', 'platformSettings')
      .replace(/^./, (first) => first.toUpperCase());
    const target = project.getChildByName(['payments-platform-sdk', ...path.split('.')]);
    if (target === undefined) throw new Error(`${part} is not a method`);
    return { kind: 'inline-tag', tag: '@link', text: part, target };
  });
}

/** Adds to each module the types that its exports name and that have no name to import. */
function addUnnamedTypes(context: Context): void {
  const { project, programs, converter } = context;
  for (const module of project.getChildrenByKind(ReflectionKind.Module)) {
    const symbol = context.getSymbolFromReflection(module);
    const program = programs.find((each) =>
      symbol
        ?.getDeclarations()
        ?.some((node) => each.getSourceFiles().includes(node.getSourceFile())),
    );
    if (symbol === undefined || program === undefined) continue;
    context.setActiveProgram(program);
    const checker = program.getTypeChecker();
    const exported = checker
      .getExportsOfModule(symbol)
      .map((each) => (each.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(each) : each));
    visitTypes(exported, checker, (type) => {
      if (context.getReflectionFromSymbol(type) !== undefined) return;
      converter.convertSymbol(context.withScope(module), type);
    });
  }
}

export async function load(app: Application): Promise<void> {
  app.on(Application.EVENT_BOOTSTRAP_END, () => {
    app.options.setValue('categoryOrder', getCategoryOrder());
  });
  const httpApi = await httpApiPage();
  const description = JSON.stringify(await openApi());
  app.converter.on(
    Converter.EVENT_CREATE_DECLARATION,
    (context: Context, declared: DeclarationReflection) => {
      if (declared.kindOf(ReflectionKind.Module)) categorise(declared, 'Reference');
      if (declared.parent?.kindOf(ReflectionKind.Module | ReflectionKind.Project) !== true) return;
      if (declared.kindOf(ReflectionKind.Module)) return;
      const [place] = context.getSymbolFromReflection(declared)?.getDeclarations() ?? [];
      const source = `${place?.getSourceFile().fileName} ${declared.name}`;
      const noun = nouns.find(([pattern]) => pattern.test(source))?.[1];
      // typedoc has a type for its own messages, which it translates.
      if (noun === undefined) app.logger.warn(`No category for ${source}` as never);
      else categorise(declared, noun);
    },
  );
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, addUnnamedTypes, 1_000);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }: Context) => {
    // The page has the name of the package as its title already.
    const [title] = project.readme ?? [];
    if (title?.kind === 'text') title.text = title.text.replace(/^# .*/, '');
    for (const text of project.documents ?? []) {
      const [, category = 'Reference'] =
        categories.find(([pattern]) => pattern.test(text.name)) ?? [];
      categorise(text, category);
      const [first] = text.content;
      text.name = takeTitle(first?.text ?? '') ?? text.name;
    }
    const page = new DocumentReflection('HTTP API', project, linkMethods(project, httpApi), {});
    categorise(page, 'Reference');
    project.addChild(page);
    project.registerReflection(page, undefined, undefined);
  });
  app.renderer.hooks.on('head.end', () => JSX.createElement(JSX.Raw, { html: head }));
  app.renderer.on(RendererEvent.END, ({ outputDirectory }: RendererEvent) => {
    for (const file of globSync([
      '*.md',
      'docs/*.md',
      'docs/{decisions,images}/*',
      'examples/**/*.{ts,py}',
    ])) {
      cpSync(file, join(outputDirectory, file));
    }
    writeFileSync(join(outputDirectory, 'openapi.json'), description);
    writeFileSync(join(outputDirectory, 'llms.txt'), llmsText(''));
  });
}
