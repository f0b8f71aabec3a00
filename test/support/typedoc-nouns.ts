// Groups the API reference by resource. The file of a declaration decides its resource, so that no
// docstring needs a tag, which editors would show on every hover.
import {
  Comment,
  CommentTag,
  Converter,
  ReflectionKind,
  type Application,
  type Context,
  type DeclarationReflection,
  type Reflection,
} from 'typedoc';

/** The first pattern that matches the file of a declaration. */
const nouns: readonly (readonly [RegExp, string])[] = [
  [/\/(client|options|clock|credential|version)\.ts$|\/wires\//, 'Client'],
  [
    /\/(schemas|resources|platform)\/transfers?\.ts$|\/resources\/(wait|reconcile)\.ts$/,
    'Transfers',
  ],
  [/\/(account|accounts)\.ts$/, 'Accounts'],
  [/\/(entity|entities)\.ts$/, 'Entities'],
  [/\/(counterparty|counterparties)\.ts$/, 'Counterparties'],
  [/\/ibans?\.ts$/, 'IBANs'],
  [/\/settings\.ts$/, 'Settings'],
  [/\/instructions?\.ts$/, 'Instructions'],
  [/\/transactions?\.ts$/, 'Transactions'],
  [/\/(errors|error-body)\.ts$/, 'Errors'],
  [/\/(pager|page)\.ts$/, 'Paging'],
  [/\/hooks\.ts$/, 'Watching'],
  [/\/(transport|request|primitives)\.ts$/, 'Calls and values'],
  [/\/sandbox\/faults\//, 'Faults and log'],
  [/\/sandbox\//, 'Sandbox'],
];

const categorise = (reflection: Reflection, category: string): void => {
  reflection.comment ??= new Comment();
  reflection.comment.blockTags.push(
    new CommentTag('@category', [{ kind: 'text', text: category }]),
  );
};

export function load(app: Application): void {
  app.converter.on(
    Converter.EVENT_CREATE_DECLARATION,
    (context: Context, declared: DeclarationReflection) => {
      if (declared.kindOf(ReflectionKind.Module)) categorise(declared, 'Entry points');
      if (declared.parent?.kindOf(ReflectionKind.Module | ReflectionKind.Project) !== true) return;
      if (declared.kindOf(ReflectionKind.Module)) return;
      const [place] = context.getSymbolFromReflection(declared)?.getDeclarations() ?? [];
      const file = place?.getSourceFile().fileName ?? '';
      const noun = nouns.find(([pattern]) => pattern.test(file))?.[1];
      if (noun !== undefined) categorise(declared, noun);
    },
  );
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, (context: Context) => {
    for (const text of context.project.documents ?? []) {
      categorise(text, text.name.startsWith('decisions/') ? 'Decisions' : 'Guides');
      const [first] = text.content;
      text.name = /^# (.+)$/m.exec(first?.text ?? '')?.[1] ?? text.name;
    }
  });
}
