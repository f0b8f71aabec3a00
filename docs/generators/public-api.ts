// The public interface of the package, read from the source with the compiler: missing documentation,
// and the list in docs/api.md.
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { decisionTable } from './decision-table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The entry points by their import names. */
export const entryPoints: Readonly<Record<string, string>> = {
  'payments-platform-sdk': 'src/index.ts',
  'payments-platform-sdk/schemas': 'src/schemas/index.ts',
  'payments-platform-sdk/journals': 'src/journals/index.ts',
  'payments-platform-sdk/sandbox': 'src/sandbox/index.ts',
  'payments-platform-sdk/sandbox/server': 'src/sandbox/server.ts',
  'payments-platform-sdk/sandbox/msw': 'src/sandbox/msw.ts',
};

/** Reads modules; `texts` replaces files on disk. */
function read(paths: readonly string[], texts: ReadonlyMap<string, string>) {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), (path) =>
    ts.sys.readFile(path),
  );
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root);
  const host = ts.createCompilerHost(options);
  const { readFile, fileExists } = host;
  host.readFile = (path) => texts.get(path) ?? readFile.call(host, path);
  host.fileExists = (path) => texts.has(path) || fileExists.call(host, path);
  const program = ts.createProgram([...paths], options, host);
  const checker = program.getTypeChecker();
  const exportsOf = (path: string): ts.Symbol[] => {
    const file = program.getSourceFile(path);
    const module = file && checker.getSymbolAtLocation(file);
    if (module === undefined) throw new Error(`${path} is not a module`);
    return checker
      .getExportsOfModule(module)
      .map((symbol) =>
        (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol),
      );
  };
  return { checker, exportsOf };
}

const isMember = (
  node: ts.Node,
): node is
  | ts.PropertySignature
  | ts.MethodSignature
  | ts.PropertyDeclaration
  | ts.MethodDeclaration
  | ts.GetAccessorDeclaration =>
  ts.isPropertySignature(node) ||
  ts.isMethodSignature(node) ||
  ts.isPropertyDeclaration(node) ||
  ts.isMethodDeclaration(node) ||
  ts.isGetAccessorDeclaration(node);

/**
 * The members that a user sees in a declaration, including the fields of nested objects and of
 * types without a public name.
 */
function membersOf(
  start: ts.Node,
  publicNames: ReadonlySet<ts.Symbol>,
  checker: ts.TypeChecker,
): ts.NamedDeclaration[] {
  const declarations: ts.NamedDeclaration[] = [];
  const seen = new Set<ts.Node>();
  const visit = (node: ts.Node): void => {
    // A function body, its parameters and initial values have no public fields.
    if (ts.isBlock(node) || ts.isParameter(node) || ts.isConstructorDeclaration(node)) return;
    if (isMember(node)) {
      const hidden =
        ts.isPrivateIdentifier(node.name) ||
        ts.isComputedPropertyName(node.name) ||
        node.type?.getText() === 'undefined';
      if (hidden) return;
      declarations.push(node);
      const isField = ts.isPropertySignature(node) || ts.isPropertyDeclaration(node);
      if (isField && node.type !== undefined) visit(node.type);
      return;
    }
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const symbol = checker.getSymbolAtLocation(
        ts.isTypeReferenceNode(node) ? node.typeName : node.expression,
      );
      if (symbol !== undefined) follow(symbol);
    }
    ts.forEachChild(node, visit);
  };
  const follow = (symbol: ts.Symbol): void => {
    const target =
      (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol);
    if (publicNames.has(target)) return;
    for (const declaration of target.getDeclarations() ?? []) enter(declaration);
  };
  const enter = (node: ts.Node): void => {
    const ours = !relative(root, node.getSourceFile().fileName).includes('node_modules');
    const hasMembers =
      ts.isInterfaceDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isTypeAliasDeclaration(node);
    if (!ours || !hasMembers || seen.has(node)) return;
    seen.add(node);
    ts.forEachChild(node, visit);
  };
  enter(start);
  return declarations;
}

/** The exported names of each entry point, and whether each is a value or only a type. */
export function publicNames(): Readonly<
  Record<string, readonly { readonly name: string; readonly isValue: boolean }[]>
> {
  const paths = Object.entries(entryPoints).map(
    ([name, path]) => [name, join(root, path)] as const,
  );
  const { exportsOf } = read(
    paths.map(([, path]) => path),
    new Map(),
  );
  return Object.fromEntries(
    paths.map(([entry, path]) => [
      entry,
      exportsOf(path).map((symbol) => ({
        name: symbol.getName(),
        isValue: (symbol.flags & ts.SymbolFlags.Value) !== 0,
      })),
    ]),
  );
}

/**
 * Reports each type of this package that the signatures and fields of these symbols name, and then
 * what those types name.
 */
export function visitTypes(
  from: readonly ts.Symbol[],
  checker: ts.TypeChecker,
  report: (type: ts.Symbol, owner: ts.Symbol) => void,
): void {
  const seen = new Set<ts.Symbol>();
  const visit = (node: ts.Node, owner: ts.Symbol): void => {
    const isHidden =
      ts.isBlock(node) ||
      (ts.isClassElement(node) && isPrivate(node)) ||
      ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
    if (isHidden) return;
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node)) {
      const found = checker.getSymbolAtLocation(
        ts.isTypeReferenceNode(node) ? node.typeName : node.expression,
      );
      const isAlias = found !== undefined && (found.flags & ts.SymbolFlags.Alias) !== 0;
      const target = isAlias ? checker.getAliasedSymbol(found) : found;
      if (target !== undefined) name(target, owner);
    }
    ts.forEachChild(node, (child) => {
      visit(child, owner);
    });
  };
  const follow = (symbol: ts.Symbol): void => {
    if (seen.has(symbol)) return;
    seen.add(symbol);
    for (const node of symbol.getDeclarations() ?? []) visit(node, symbol);
    // The compiler infers the types of some fields, such as `sandbox.accounts`.
    for (const namespace of findNamespaces(symbol, checker)) name(namespace, symbol);
  };
  const name = (type: ts.Symbol, owner: ts.Symbol): void => {
    if (type === owner || !isOurs(type)) return;
    report(type, owner);
    follow(type);
  };
  for (const symbol of from) follow(symbol);
}

const isOurs = (symbol: ts.Symbol): boolean =>
  (symbol.getDeclarations() ?? []).some(
    (node) =>
      !ts.isTypeParameterDeclaration(node) &&
      relative(root, node.getSourceFile().fileName).startsWith('src'),
  );

/** The names that editors show in a hover of another name: in a signature, a field or a comment. */
export function namesInHovers(): ReadonlySet<string> {
  const paths = Object.values(entryPoints).map((path) => join(root, path));
  const { checker, exportsOf } = read(paths, new Map());
  const names = new Set<string>();
  const readComments = (owner: ts.Symbol): void => {
    const texts = (owner.getDeclarations() ?? []).map((node) => node.getFullText());
    for (const [comment] of texts.join('\n').matchAll(/\/\*\*[\s\S]*?\*\//g)) {
      for (const [word] of comment.matchAll(/\b[A-Z]\w+/g)) {
        if (word !== owner.getName()) names.add(word);
      }
    }
  };
  const exported = paths.flatMap(exportsOf);
  for (const symbol of exported) readComments(symbol);
  visitTypes(exported, checker, (type) => {
    names.add(type.getName());
    readComments(type);
  });
  return names;
}

const isPrivate = ({ name }: ts.ClassElement): boolean =>
  name !== undefined && ts.isPrivateIdentifier(name);

/** The classes of a class's fields, such as `Transfers`, which have no public name. */
const findNamespaces = (symbol: ts.Symbol, checker: ts.TypeChecker): ts.Symbol[] =>
  (symbol.flags & ts.SymbolFlags.Class) === 0
    ? []
    : checker
        .getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol))
        // The compiler lists private fields, too.
        .filter((field) => !field.getName().startsWith('#'))
        .flatMap((field) => checker.getTypeOfSymbol(field).getSymbol() ?? [])
        .filter(
          ({ flags, valueDeclaration: node }) =>
            (flags & ts.SymbolFlags.Class) !== 0 &&
            !node?.getSourceFile().fileName.includes('node_modules'),
        );

/** What an editor shows of a symbol: its text, and its tags except examples. */
export interface Shown {
  /** `src/resources/transfers.ts Transfers.create`. */
  readonly name: string;
  readonly text: string;
  readonly tags: string;
  readonly example: string | undefined;
  readonly isMethod: boolean;
}

/** Public names and their fields with documentation. */
export function documented(
  paths: readonly string[] = Object.values(entryPoints).map((path) => join(root, path)),
  texts: ReadonlyMap<string, string> = new Map(),
): Shown[] {
  const { checker, exportsOf } = read(paths, texts);
  const shownByName = new Map<string, Shown>();
  const show = (name: string, symbol: ts.Symbol | undefined): void => {
    const tags = symbol?.getJsDocTags(checker) ?? [];
    const textOf = (tag: ts.JSDocTagInfo) => ts.displayPartsToString(tag.text);
    const node = symbol?.valueDeclaration;
    shownByName.set(name, {
      name,
      text: ts.displayPartsToString(symbol?.getDocumentationComment(checker)).trim(),
      tags: tags
        .filter((tag) => tag.name !== 'example')
        .map(textOf)
        .join(' '),
      example: tags.filter((tag) => tag.name === 'example').map(textOf)[0],
      isMethod: node !== undefined && (ts.isMethodDeclaration(node) || ts.isMethodSignature(node)),
    });
  };
  const exported = paths.flatMap(exportsOf);
  const shown = new Set([
    ...exported,
    ...exported.flatMap((symbol) => findNamespaces(symbol, checker)),
  ]);
  for (const symbol of shown) {
    const declarations = symbol.getDeclarations() ?? [];
    const place = declarations[0]?.getSourceFile().fileName ?? '';
    const name = `${relative(root, place)} ${symbol.getName()}`;
    show(name, symbol);
    for (const member of declarations.flatMap((declaration) =>
      membersOf(declaration, shown, checker),
    )) {
      const field = member.name;
      if (field !== undefined) {
        show(`${name}.${field.getText()}`, checker.getSymbolAtLocation(field));
      }
    }
  }
  return [...shownByName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

/** Public names without documentation. */
export const undocumented = (...from: Parameters<typeof documented>): string[] =>
  documented(...from)
    .filter(({ text }) => text === '')
    .map(({ name }) => name);

const firstSentence = (text: string): string =>
  (/^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text).replace(/\s+/g, ' ').trim();

const oneLine = (text: string): string =>
  text
    .replace(/\/\*\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/([({[]) ?\| /g, '$1')
    .replace(/^\| /, '')
    .trim();

const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);

/** The text of docs/api.md: one line for each method, function, error and shape. */
export function apiList(): string {
  const all = Object.entries(entryPoints).map(([name, path]) => [name, join(root, path)] as const);
  const { checker, exportsOf } = read(
    all.map(([, path]) => path),
    new Map(),
  );

  const describe = (symbol: ts.Symbol): string => {
    const text = ts.displayPartsToString(symbol.getDocumentationComment(checker));
    return firstSentence(text.replace(/\{@link\s+(\S+?)\s*\}/g, '$1'));
  };
  const line = (text: string, about: ts.Symbol): string => `- ${code(text)}: ${describe(about)}`;
  /** An option with its default and its whole docstring. */
  const describeOption = (option: ts.Symbol, name: string): string => {
    const text = ts.displayPartsToString(option.getDocumentationComment(checker));
    const tag = option.getJsDocTags(checker).find(({ name }) => name === 'default');
    const value = tag === undefined ? '' : `, default ${ts.displayPartsToString(tag.text)}`;
    const about = text.replace(/\{@link\s+(\S+?)\s*\}/g, '$1');
    return `- ${code(name)}${oneLine(value)}: ${oneLine(about)}`;
  };
  /** The options of a client, and the fields of its option `platform`. */
  const describeOptions = (options: ts.Symbol): string[] =>
    members(options).flatMap((option) => {
      const name = option.getName();
      const facts =
        name === 'platform'
          ? membersOfType(checker.getNonNullableType(checker.getTypeOfSymbol(option)))
          : [];
      const inner = facts.map((fact) => describeOption(fact, `${name}.${fact.getName()}`));
      return [describeOption(option, name), ...inner];
    });
  const byChecker = (type: ts.Type): string =>
    checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);

  /** A type as written in the source, unless it refers to a type parameter of a subclass. */
  const typeOf = (symbol: ts.Symbol, owner?: ts.Symbol): string => {
    const node = symbol.valueDeclaration;
    const written =
      node !== undefined &&
      (ts.isPropertySignature(node) || ts.isPropertyDeclaration(node) || ts.isParameter(node))
        ? node.type
        : undefined;
    const inherited = owner !== undefined && node?.parent !== owner.getDeclarations()?.[0];
    const generic =
      inherited &&
      node !== undefined &&
      (ts.isInterfaceDeclaration(node.parent) || ts.isClassDeclaration(node.parent)) &&
      node.parent.typeParameters !== undefined;
    return written === undefined || generic
      ? byChecker(checker.getTypeOfSymbol(symbol))
      : oneLine(written.getText());
  };
  const withoutUndefined = (text: string): string => text.replace(/ \| undefined$/, '');

  /** A function signature: `(input: TransferCreateInput): ApiCall<TransferCreated>`. */
  const called = (signature: ts.Signature): string => {
    const parameters = signature.getParameters().map((parameter) => {
      const node = parameter.valueDeclaration;
      if (node === undefined || !ts.isParameter(node)) return parameter.getName();
      const optional = node.questionToken !== undefined || node.initializer !== undefined;
      const name = ts.isIdentifier(node.name) ? node.name.text : 'options';
      const rest = node.dotDotDotToken === undefined ? '' : '...';
      return `${rest}${name}${optional ? '?' : ''}: ${typeOf(parameter)}`;
    });
    const node = signature.getDeclaration().type;
    const result =
      node === undefined || ts.isTypePredicateNode(node)
        ? oneLine(node?.getText() ?? byChecker(signature.getReturnType()))
        : byChecker(signature.getReturnType()).replace(/; \}/g, ' }');
    return `(${parameters.join(', ')}): ${result}`;
  };

  const isMethod = (symbol: ts.Symbol): boolean =>
    checker.getTypeOfSymbol(symbol).getCallSignatures().length > 0;
  const isShown = (symbol: ts.Symbol): boolean =>
    !/^(__|#|catch$|finally$)/.test(symbol.getName()) &&
    !symbol.getJsDocTags().some(({ name }) => name === 'internal') &&
    (symbol.getDeclarations() ?? []).some((node) =>
      relative(root, node.getSourceFile().fileName).startsWith('src'),
    );
  const membersOfType = (type: ts.Type): ts.Symbol[] =>
    checker.getPropertiesOfType(type).filter(isShown);
  const members = (symbol: ts.Symbol): ts.Symbol[] =>
    membersOfType(checker.getDeclaredTypeOfSymbol(symbol));
  const methods = (symbol: ts.Symbol, prefix: string): string[] =>
    members(symbol).flatMap((member) =>
      checker
        .getTypeOfSymbol(member)
        .getCallSignatures()
        .map((signature) => line(`${prefix}.${member.getName()}${called(signature)}`, member)),
    );
  const shape = (fields: readonly ts.Symbol[], owner?: ts.Symbol): string => {
    const texts = fields.map((field) => {
      const optional = (field.flags & ts.SymbolFlags.Optional) !== 0;
      const text = typeOf(field, owner);
      return `${field.getName()}${optional ? `?: ${withoutUndefined(text)}` : `: ${text}`}`;
    });
    return texts.length === 0 ? '' : ` { ${texts.join('; ')} }`;
  };

  /** The type of an alias. */
  const meaning = (symbol: ts.Symbol): string => {
    const node = symbol.getDeclarations()?.find(ts.isTypeAliasDeclaration)?.type;
    if (node === undefined) return '';
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const parts = type.isUnion() ? type.types : [type];
    if (ts.isIndexedAccessTypeNode(node)) {
      // The members of a list have an order, those of its union have not.
      const list = checker.getTypeFromTypeNode(node.objectType);
      const isList = checker.isTupleType(list);
      const ordered = isList ? checker.getTypeArguments(list as ts.TypeReference) : parts;
      return ordered.map(byChecker).join(' | ').replaceAll('"', "'");
    }
    return parts.every((part) => part.isIntersection() && membersOfType(part).length > 0)
      ? parts.map((part) => shape(membersOfType(part)).trim()).join(' | ')
      : oneLine(node.getText());
  };

  /** Interfaces in the signatures and fields of these symbols, except the symbols themselves. */
  const findMentioned = (from: readonly ts.Symbol[]): ts.Symbol[] => {
    const seen = new Set(from);
    const visit = (node: ts.Node): void => {
      const isHidden =
        ts.isBlock(node) ||
        ts.isConstructorDeclaration(node) ||
        (ts.isClassElement(node) && node.name !== undefined && ts.isPrivateIdentifier(node.name)) ||
        ts.getJSDocTags(node).some(({ tagName }) => tagName.text === 'internal');
      if (isHidden) return;
      if (ts.isTypeReferenceNode(node)) {
        const found = checker.getSymbolAtLocation(node.typeName);
        if (found !== undefined) {
          const isAlias = (found.flags & ts.SymbolFlags.Alias) !== 0;
          follow(isAlias ? checker.getAliasedSymbol(found) : found);
        }
      }
      ts.forEachChild(node, visit);
    };
    const follow = (symbol: ts.Symbol): void => {
      if (seen.has(symbol) || !isShown(symbol)) return;
      seen.add(symbol);
      for (const node of symbol.getDeclarations() ?? [])
        if (!ts.isClassDeclaration(node)) visit(node);
    };
    for (const node of from.flatMap((symbol) => symbol.getDeclarations() ?? [])) visit(node);
    return [...seen].slice(new Set(from).size);
  };

  const sections: string[] = [];
  const section = (title: string, lines: readonly string[]): void => {
    if (lines.length > 0) sections.push(`## ${title}\n\n${lines.join('\n')}\n`);
  };
  // A type of several entry points is listed once.
  const listedSymbols = new Set<ts.Symbol>();
  /** Classes whose methods are listed under a namespace, such as `payments.transfers`. */
  const heads: ts.Symbol[] = [];
  for (const [name, path] of all) {
    const symbols = exportsOf(path).filter((symbol) => !listedSymbols.has(symbol));
    for (const symbol of symbols) listedSymbols.add(symbol);
    const isClass = (symbol: ts.Symbol) => (symbol.flags & ts.SymbolFlags.Class) !== 0;
    const isError = (symbol: ts.Symbol) => isClass(symbol) && symbol.getName().endsWith('Error');
    for (const head of symbols) {
      const variable = { PaymentsClient: 'payments', Sandbox: 'sandbox' }[head.getName()];
      if (variable === undefined) continue;
      const made = checker.getTypeOfSymbol(head).getConstructSignatures();
      section(`${head.getName()}, from \`${name}\``, [
        ...made.map((signature) =>
          line(`new ${head.getName()}${called(signature).replace(/: \w+$/, '')}`, head),
        ),
        ...methods(head, variable),
      ]);
      if (variable === 'payments') {
        const options = symbols.filter((symbol) => symbol.getName() === 'ClientOptions');
        section('Options of a client', options.flatMap(describeOptions));
        section('What createOnce decides', [decisionTable()]);
      }
      for (const space of members(head)) {
        const noun = checker.getTypeOfSymbol(space).getSymbol();
        if (noun === undefined || !members(noun).some(isMethod)) continue;
        const path = `${variable}.${space.getName()}`;
        if (!isMethod(space) && members(noun).every(isMethod)) {
          section(path, methods(noun, path));
          heads.push(noun);
        }
      }
    }
    section(
      `Interfaces with methods, from \`${name}\``,
      symbols
        .filter((symbol) =>
          ['ApiCall', 'Pager', 'OffsetPager', 'Journal', 'Clock', 'SandboxServer'].includes(
            symbol.getName(),
          ),
        )
        .flatMap((symbol) => methods(symbol, symbol.getName())),
    );
    section(
      `Functions, from \`${name}\``,
      symbols
        .filter((symbol) => (symbol.flags & ts.SymbolFlags.Value) !== 0)
        .flatMap((symbol) =>
          checker
            .getTypeOfSymbol(symbol)
            .getCallSignatures()
            .map((signature) => line(`${symbol.getName()}${called(signature)}`, symbol)),
        ),
    );
    section(
      `Errors, from \`${name}\``,
      symbols.filter(isError).map((symbol) => {
        const [declaration] = symbol.getDeclarations() ?? [];
        const parent =
          declaration !== undefined && ts.isClassDeclaration(declaration)
            ? declaration.heritageClauses?.[0]?.types[0]?.expression.getText()
            : undefined;
        const ownFields = members(symbol).filter(
          (field) => !isMethod(field) && field.valueDeclaration?.parent === declaration,
        );
        return line(`${symbol.getName()} extends ${parent}${shape(ownFields, symbol)}`, symbol);
      }),
    );
    section(
      `Shapes, from \`${name}\``,
      symbols
        .filter(
          (symbol) =>
            (symbol.flags & ts.SymbolFlags.Interface) !== 0 &&
            !isClass(symbol) &&
            members(symbol).length > 0 &&
            !members(symbol).some(isMethod),
        )
        .map((symbol) => line(`${symbol.getName()}${shape(members(symbol), symbol)}`, symbol)),
    );
    section(
      `Types, from \`${name}\``,
      symbols
        .filter((symbol) => (symbol.flags & ts.SymbolFlags.TypeAlias) !== 0)
        .map((symbol) => line(`${symbol.getName()} = ${meaning(symbol)}`, symbol)),
    );
  }
  const unnamed = findMentioned([...listedSymbols, ...heads]);
  section(
    'Shapes that methods take and return, without a name to import',
    unnamed.flatMap((symbol) => {
      const fields = members(symbol);
      const isShape =
        (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias)) !== 0 &&
        (checker.getDeclaredTypeOfSymbol(symbol).flags & ts.TypeFlags.Object) !== 0 &&
        fields.length > 0 &&
        !fields.some(isMethod);
      return isShape ? [line(`${symbol.getName()}${shape(fields, symbol)}`, symbol)] : [];
    }),
  );
  return `# Every method on one line\n\nWritten by \`npx node docs/generators/api-list.ts\` from the source; do not edit by hand. A test compares the two.\n\n${sections.join('\n')}`;
}
