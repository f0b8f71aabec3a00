import * as z from 'zod/mini';
import { isPlainObject } from '../../internal/objects.ts';
import { accountCreatedSchema } from '../../schemas/account.ts';
import { entityCreatedSchema } from '../../schemas/entity.ts';
import { errorBodySchema } from '../../schemas/error-body.ts';
import * as publicSchemas from '../../schemas/index.ts';
import {
  builtInstructionSchema,
  executionStateSchema,
  instructionListInputSchema,
} from '../../schemas/instruction.ts';
import { transactionListInputSchema } from '../../schemas/transaction.ts';
import { transferCreatedSchema } from '../../schemas/transfer.ts';
import { documentedValuesOf } from '../../schemas/primitives.ts';
import { idPrefixes, nouns } from '../platform/ids.ts';
import { operationPaths, type SandboxOperation } from '../api/operations.ts';
import {
  annotations,
  annotationsByName,
  getSchemaNames,
  records,
  type Gaps,
} from './annotations.ts';
import type { TypeDocs } from './docstrings.ts';
import type { Json, JsonObject } from './document.ts';

/** Merges row numbers of docs/gaps.md into `x-gap`: a number for one row, a list for several. */
export function mergeGaps(...gaps: readonly (Gaps | Json | undefined)[]): JsonObject {
  const rows = [...new Set(gaps.flat().filter((row) => typeof row === 'number'))];
  rows.sort((one, other) => one - other);
  const [row] = rows;
  if (row === undefined) return {};
  return { 'x-gap': rows.length === 1 ? row : rows };
}

/** Merges schemas. For the same key the last one wins, but the rows in `x-gap` are combined. */
const merge = (...parts: readonly JsonObject[]): JsonObject => ({
  ...(Object.assign({}, ...parts) as JsonObject),
  ...mergeGaps(...parts.map((part) => part['x-gap'])),
});

/** Schemas of the API that the package does not export. */
const unexported = {
  AccountCreatedSchema: accountCreatedSchema(),
  BuiltInstructionSchema: builtInstructionSchema(),
  EntityCreatedSchema: entityCreatedSchema(),
  ErrorBodySchema: errorBodySchema(),
  ExecutionStateSchema: executionStateSchema(),
  InstructionListInputSchema: instructionListInputSchema(),
  TransactionListInputSchema: transactionListInputSchema(),
  TransferCreatedSchema: transferCreatedSchema(),
};

/** Whether this type is in requests or responses of the API, and not only in the SDK. */
const isOfApi = (name: string): boolean => !/^page|^OnceInput/.test(name);

const named = new Map<string, z.core.$ZodType>(
  Object.entries({ ...publicSchemas, ...unexported })
    .filter(([name]) => isOfApi(name))
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => [name.replace(/Schema$/, ''), schema as unknown as z.core.$ZodType]),
);

/** Returns the name of a schema in openapi.json, if it has one. */
export const findSchemaName = (schema: z.core.$ZodType): string | undefined =>
  [...named].find(([, each]) => each === schema)?.[0];

const options = {
  io: 'input',
  unrepresentable: 'any',
  override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: object }): void {
    const documented = documentedValuesOf(zodSchema);
    if (documented !== undefined) Object.assign(jsonSchema, { enum: documented, 'x-gap': 33 });
    // Describe a `number` or `bigint` of JavaScript as one integer, the only kind that JSON has.
    const { _zod: internals } = zodSchema;
    const { def } = internals;
    const isInteger =
      def.type === 'union' && def.options.some(({ _zod: inner }) => inner.def.type === 'bigint');
    if (!isInteger) return;
    Reflect.deleteProperty(jsonSchema, 'anyOf');
    Object.assign(jsonSchema, { type: 'integer', 'x-gap': 34 });
  },
} as const;

/** The prefix of the id in a field such as `sourceAccountId`, or `id` of a type; else undefined. */
function idPrefixOf(field: string, owner: string): string | undefined {
  const name = field === 'id' ? owner.replace(/Created$/, '') : /([a-z]+)Id$/i.exec(field)?.[1];
  const record = name?.replace(/^source|^destination/, '').toLowerCase();
  const noun = nouns.find((each) => records[each].record.toLowerCase() === record);
  return noun && idPrefixes[noun];
}

/**
 * Returns the schemas of a type's fields, with the docstrings and annotations of these fields. A
 * field that no TypeScript type declares keeps its schema.
 */
function describeFields(
  properties: JsonObject,
  type: string,
  docs: ReadonlyMap<string, TypeDocs>,
): JsonObject {
  const fields = docs.get(type)?.fields;
  return Object.fromEntries(
    Object.entries(properties).map(([name, property]): [string, Json] => {
      const field = fields?.get(name);
      if (field === undefined || !isPlainObject(property)) return [name, property];
      const { description, owner, values } = field;
      let schema = field.type === undefined ? property : describe(property, field.type, docs);
      // Take the values from the type, because the zod schema of an enum in an input is a refinement without values.
      if (values.length > 0 && !('enum' in schema)) schema = { ...schema, enum: values };
      // The schemas of responses do not check ids, so the pattern of an id comes from its name.
      const prefix = idPrefixOf(name, owner);
      const isChecked = prefix === undefined || 'pattern' in schema || '$ref' in schema;
      const idPattern = isChecked ? {} : { pattern: `^${prefix}` };
      const own = annotations[`${owner}.${name}`] ?? {};
      const byName = annotationsByName
        .filter(([names]) => names.test(name))
        .map(([, facts]) => facts);
      // That a field of a response may be null is in no reference: docs/gaps.md, row 30.
      const isNullable = JSON.stringify(schema).includes('"null"');
      const nullable = isNullable && !/Input$|Query$/.test(type) ? { 'x-gap': 30 } : {};
      return [name, merge(schema, idPattern, { description }, ...byName, nullable, own)];
    }),
  );
}

/** Adds the docstrings and annotations of a type and of its fields to the type's schema. */
function describe(
  { $schema: _schema, $id: _id, ...schema }: JsonObject,
  type: string,
  docs: ReadonlyMap<string, TypeDocs>,
): JsonObject {
  const description = docs.get(type)?.description ?? '';
  const { properties, additionalProperties } = schema;
  // zod writes the empty schema `{}` if an object may have fields that the schema does not know.
  const allowsUnknownFields =
    isPlainObject(additionalProperties) && Object.keys(additionalProperties).length === 0;
  // Responses may have further fields (docs/gaps.md, row 31). Some types have rows of their own.
  const withUnknownFields: JsonObject = {
    additionalProperties: true,
    ...mergeGaps(annotations[type]?.['x-gap'] ?? 31),
  };
  return merge(
    schema,
    isPlainObject(properties) ? { properties: describeFields(properties, type, docs) } : {},
    allowsUnknownFields ? withUnknownFields : {},
    description === '' ? {} : { description },
    annotations[type] ?? {},
  );
}

/** Leaves out the pattern `[^]`, because the regular expressions of Python have no empty class. */
const toPortable = (_key: string, value: unknown): unknown => (value === '[^]' ? undefined : value);

/**
 * Creates the named schemas of openapi.json: one for each public type, one for each page of a list
 * (`AccountPage`), and one for each list that is returned whole (`InstructionList`).
 */
export function createSchemas(docs: ReadonlyMap<string, TypeDocs>): Record<string, JsonObject> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of named) registry.add(schema, { id });
  const toRef = (id: string): string => `#/components/schemas/${id}`;
  const converted: unknown = z.toJSONSchema(registry, { ...options, uri: toRef }).schemas;
  // The conversion to JSON and back leaves out patterns that other languages cannot read.
  const schemas = JSON.parse(JSON.stringify(converted, toPortable)) as Record<string, JsonObject>;
  const typeSchemas = Object.entries(schemas).map(([name, schema]) => [
    name,
    describe(schema, name, docs),
  ]);
  const nextCursor = { type: ['string', 'null'], description: 'Where the next page starts.' };
  const listSchemas = (Object.keys(operationPaths) as SandboxOperation[])
    .filter((operation) => operation.endsWith('.list'))
    .map((operation) => {
      const { record, response = '' } = getSchemaNames(operation);
      const list = { type: 'array', items: { $ref: toRef(record) } };
      if (response.endsWith('List')) return [response, list];
      const page = {
        type: 'object',
        description: `One page of a list: ${record}.`,
        properties: {
          data: { ...list, 'x-gap': 59 },
          hasMore: { type: 'boolean', description: 'Whether more items follow this page.' },
          nextCursor,
        },
        required: ['data', 'hasMore', 'nextCursor'],
        additionalProperties: true,
        'x-gap': 31,
      };
      return [response, page];
    });
  return Object.fromEntries([...typeSchemas, ...listSchemas]) as Record<string, JsonObject>;
}

/**
 * Describes the query parameters of an operation. `schema` is the schema of its query, and `type`
 * is the name of the type that has the docstrings of the parameters.
 */
export function createParameters(
  schema: z.core.$ZodType,
  type: string,
  docs: ReadonlyMap<string, TypeDocs>,
): JsonObject[] {
  const converted = JSON.parse(
    JSON.stringify(z.toJSONSchema(schema, options), toPortable),
  ) as JsonObject;
  const { properties } = describe(converted, type, docs);
  return Object.entries(isPlainObject(properties) ? properties : {}).map(([name, property]) => {
    const { description, 'x-gap': gaps, anyOf = [], ...rest } = property as JsonObject;
    // The schema of a cursor is a string or null. Describe only the string, because a query cannot contain null.
    const [withoutNull] = anyOf as readonly JsonObject[];
    const parameterSchema = { ...withoutNull, ...rest };
    const facts = { description: description ?? '', schema: parameterSchema };
    return { name, in: 'query', ...facts, ...mergeGaps(gaps) };
  });
}
