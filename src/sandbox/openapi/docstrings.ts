import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type * as ts from 'typescript';

/** What the TypeScript declaration of a field says and its zod schema does not. */
interface FieldDocs {
  readonly description: string;
  /** The name of the interface that declares the field. */
  readonly owner: string;
  /** The name of the interface of the field's value, if the value has one. */
  readonly type: string | undefined;
  /** The values of an enum. */
  readonly values: readonly string[];
}

/** The docstring of a type, and the docstrings of its fields by name. */
export interface TypeDocs {
  readonly description: string;
  readonly fields: ReadonlyMap<string, FieldDocs>;
}

const schemasFolder = fileURLToPath(new URL('../../schemas/', import.meta.url));

/**
 * Reads the docstrings of the types in src/schemas, because zod schemas have no descriptions.
 * Returns them by the name of the type.
 */
export async function readDocstrings(): Promise<ReadonlyMap<string, TypeDocs>> {
  const { default: compiler } = await import('typescript');
  const paths = readdirSync(schemasFolder).map((file) => `${schemasFolder}${file}`);
  const program = compiler.createProgram(paths, {
    strict: true,
    // Reading the types of zod takes the compiler a second and is not needed here.
    noResolve: true,
    lib: ['lib.es5.d.ts'],
    types: [],
    module: compiler.ModuleKind.NodeNext,
    moduleResolution: compiler.ModuleResolutionKind.NodeNext,
    allowImportingTsExtensions: true,
    noEmit: true,
  });
  const checker = program.getTypeChecker();
  const documentationOf = (symbol: ts.Symbol): string =>
    compiler
      .displayPartsToString(symbol.getDocumentationComment(checker))
      .replace(/\{@link (\w+)\}/g, '$1')
      .replace(/\s+/g, ' ');

  /**
   * Describes a field; undefined for a symbol without a declaration. `typeName` is the owner of a
   * field that no interface declares.
   */
  function describeField(symbol: ts.Symbol, typeName: string): FieldDocs | undefined {
    const [declaration] = symbol.getDeclarations() ?? [];
    if (declaration === undefined) return undefined;
    const { parent } = declaration;
    const type = checker.getNonNullableType(checker.getTypeOfSymbol(symbol));
    const members = type.isUnion() ? type.types : [type];
    const literals = members.filter((member) => member.isStringLiteral());
    return {
      description: documentationOf(symbol),
      owner: compiler.isInterfaceDeclaration(parent) ? parent.name.text : typeName,
      type: type.getSymbol()?.getName(),
      values: literals.map(({ value }) => value),
    };
  }

  function describeType(symbol: ts.Symbol): TypeDocs {
    const type = checker.getDeclaredTypeOfSymbol(symbol);
    const fields = new Map<string, FieldDocs>();
    // The members of a union type declare the same fields, so one docstring of a field is enough.
    for (const member of type.isUnion() ? type.types : [type]) {
      for (const property of checker.getPropertiesOfType(member)) {
        const docs = describeField(property, symbol.getName());
        const hasDocs = (fields.get(property.getName())?.description ?? '') !== '';
        if (docs !== undefined && !hasDocs) fields.set(property.getName(), docs);
      }
    }
    return { description: documentationOf(symbol), fields };
  }

  const docs = new Map<string, TypeDocs>();
  for (const path of paths) {
    for (const statement of program.getSourceFile(path)?.statements ?? []) {
      if (
        !compiler.isInterfaceDeclaration(statement) &&
        !compiler.isTypeAliasDeclaration(statement)
      )
        continue;
      const symbol = checker.getSymbolAtLocation(statement.name);
      if (symbol !== undefined) docs.set(symbol.getName(), describeType(symbol));
    }
  }
  return docs;
}
