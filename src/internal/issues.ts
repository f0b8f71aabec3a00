/** One thing that was wrong with an argument or a response. */
export interface Issue {
  /** Where: `amount`, `actionArguments.refuelERC20.fee.token`, or empty for the whole value. */
  readonly path: string;
  /** What was expected, and what to do. */
  readonly message: string;
}

/** How many issues an error lists at most: a list of millions may have as many. */
export const mostIssues = 1_000;

/** Joins the path of a value and the keys inside it: `a.b[0]`. */
export const join = (at: string, keys: readonly PropertyKey[]): string =>
  keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    return path === '' ? String(key) : `${path}.${String(key)}`;
  }, at);
