/** Result of checking a value, as Standard Schema defines it. @inline */
export type SchemaResult<T> =
  | {
      /** The value, as the schema made it. */
      readonly value: T;
      readonly issues?: undefined;
    }
  | {
      /** The issues of the value. */
      readonly issues: readonly {
        /** What was expected. */
        readonly message: string;
        /** Where in the value. */
        readonly path?:
          | readonly (
              | PropertyKey
              | {
                  /** One step on the way. */
                  readonly key: PropertyKey;
                }
            )[]
          | undefined;
      }[];
    };

/** One issue that a schema found. */
export interface SchemaIssue {
  /** Code of the issue, as in zod: `invalid_type`, `unrecognized_keys`. */
  readonly code: string;
  /** Where in the value. */
  readonly path: readonly PropertyKey[];
  /** What was expected. */
  readonly message: string;
}

/** All issues of a value. */
export interface SchemaError {
  /** `$ZodError` or `ZodError`. */
  readonly name: string;
  /** The issues as JSON. */
  readonly message: string;
  /** The single issues. */
  readonly issues: readonly SchemaIssue[];
}

/**
 * A schema that accepts and returns a `T`. You can nest it in a schema of any zod 4
 * (`z.object({ transfer: TransferSchema })`, `z.infer<typeof TransferSchema>`), or pass it to a
 * library that accepts a Standard Schema.
 */
export interface Schema<T> {
  /** Standard Schema, version 1. */
  readonly '~standard': {
    /** The version of Standard Schema. */
    readonly version: 1;
    /** The library that made it: `zod`. */
    readonly vendor: string;
    /** Checks a value; never asynchronous. */
    readonly validate: (value: unknown) => SchemaResult<T>;
    /** For the compiler only. */
    readonly types?:
      | {
          /** What goes in. */
          readonly input: T;
          /** What comes out. */
          readonly output: T;
        }
      | undefined;
  };
  /**
   * Returns the checked value.
   * @throws an error with `issues` when the value does not match
   */
  parse(value: unknown): T;
  /** Checks a value without throwing; returns the issues. */
  safeParse(value: unknown):
    | {
        /** The value matches. */
        success: true;
        /** The checked value. */
        data: T;
        error?: undefined;
      }
    | {
        /** The value does not match. */
        success: false;
        data?: undefined;
        /** Its issues. */
        error: SchemaError;
      };
  /**
   * Fields that zod reads of a nested schema. Your code may use only `output` and `input`. The
   * others let any zod 4 accept this schema as one of its own.
   */
  readonly _zod: {
    /** What comes out. */
    output: T;
    /** What goes in. */
    input: T;
    /** Never present. @hidden */ version: never;
    /** Never present. @hidden */ def: never;
    /** Never present. @hidden */ deferred: never;
    /** Never present. @hidden */ run: never;
    /** Never present. @hidden */ parse: never;
    /** Never present. @hidden */ traits: never;
    /** Never present. @hidden */ pattern: never;
    /** Never present. @hidden */ constr: never;
    /** Never present. @hidden */ bag: never;
    /** Never present. @hidden */ isst: never;
  };
}
