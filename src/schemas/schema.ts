/** Result of checking a value with a schema, as Standard Schema defines the result. @inline */
export type SchemaResult<T> =
  | {
      /** The value that the schema returns. */
      readonly value: T;
      readonly issues?: undefined;
    }
  | {
      /** The issues that the schema found in the value. */
      readonly issues: readonly {
        /** Description of what the schema expected. */
        readonly message: string;
        /** Where in the value the issue is. */
        readonly path?:
          | readonly (
              | PropertyKey
              | {
                  /** Key of one step of the path to the issue. */
                  readonly key: PropertyKey;
                }
            )[]
          | undefined;
      }[];
    };

/** One issue that a schema found in a value. */
type SchemaIssue = {
  /** Code of the issue, as zod names issues: `invalid_type`, `unrecognized_keys`. */
  readonly code: string;
  /** Where in the value the issue is: the keys from the outside in. */
  readonly path: readonly PropertyKey[];
  /** Description of what the schema expected. */
  readonly message: string;
};

/** The error that lists all issues of a value. */
type SchemaError = {
  /** Name of the error: `$ZodError` or `ZodError`. */
  readonly name: string;
  /** Text of the issues as JSON. */
  readonly message: string;
  /** Each issue of the value. */
  readonly issues: readonly SchemaIssue[];
};

/**
 * A schema that accepts and returns a `T`. You can nest it in a schema of any zod 4
 * (`z.object({ transfer: TransferSchema })`, `z.infer<typeof TransferSchema>`), or pass it to a
 * library that accepts a Standard Schema.
 */
export interface Schema<T> {
  /** The interface that Standard Schema, version 1, defines. */
  readonly '~standard': {
    /** The version of Standard Schema that the schema implements. */
    readonly version: 1;
    /** Name of the library that made the schema: `zod`. */
    readonly vendor: string;
    /** Checks a value, always synchronously. */
    readonly validate: (value: unknown) => SchemaResult<T>;
    /** Types of the schema, for the compiler only. At run time the field is absent. */
    readonly types?:
      | {
          /** Type of a value that the schema accepts. */
          readonly input: T;
          /** Type of a value that the schema returns. */
          readonly output: T;
        }
      | undefined;
  };
  /**
   * Checks a value, and returns it.
   * @throws an error with `issues` when the value does not match
   */
  parse(value: unknown): T;
  /** Checks a value without throwing, and returns the value or the issues. */
  safeParse(value: unknown):
    | {
        /** True because the value matches the schema. */
        success: true;
        /** The value that the schema returns. */
        data: T;
        error?: undefined;
      }
    | {
        /** False because the value does not match the schema. */
        success: false;
        data?: undefined;
        /** The error that lists the issues of the value. */
        error: SchemaError;
      };
  /**
   * Fields that zod reads if you nest the schema in another schema. Your code may use only `output`
   * and `input`. The others let any zod 4 accept this schema as one of its own.
   */
  readonly _zod: {
    /** Type of a value that the schema returns. */
    output: T;
    /** Type of a value that the schema accepts. */
    input: T;
    /** Field of zod, never present here. @hidden */ version: never;
    /** Field of zod, never present here. @hidden */ def: never;
    /** Field of zod, never present here. @hidden */ deferred: never;
    /** Field of zod, never present here. @hidden */ run: never;
    /** Field of zod, never present here. @hidden */ parse: never;
    /** Field of zod, never present here. @hidden */ traits: never;
    /** Field of zod, never present here. @hidden */ pattern: never;
    /** Field of zod, never present here. @hidden */ constr: never;
    /** Field of zod, never present here. @hidden */ bag: never;
    /** Field of zod, never present here. @hidden */ isst: never;
  };
}
