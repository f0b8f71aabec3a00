/** One thing that was wrong with an argument or a response. */
export interface Issue {
  /** Where: `amount`, `actionArguments.refuelERC20.fee.token`, or empty for the whole value. */
  readonly path: string;
  /** What was expected, and what to do. */
  readonly message: string;
}

/** Nobody reads more, and a list of millions may have as many mistakes. */
export const mostIssues = 1_000;

/** The place of something inside of another: `a.b[0]`. */
export const join = (at: string, keys: readonly PropertyKey[]): string =>
  keys.reduce<string>(
    (before, key) =>
      typeof key === 'number'
        ? `${before}[${key}]`
        : before === ''
          ? String(key)
          : `${before}.${String(key)}`,
    at,
  );
