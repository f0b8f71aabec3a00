export type Result = 'confirmed' | 'contradicted' | 'found' | 'unknown';

/** An option that the probe suggests for the client, because of what the platform did. */
export interface Suggestion {
  readonly name: string;
  readonly value: string | number | boolean;
  /** TypeScript to print for an option's value that is a function. Other values are JSON. */
  readonly code?: string | undefined;
  readonly reason: string;
}

export interface Verdict {
  readonly result: Result;
  /** One sentence that changes only if the platform changes, because `--compare` compares it. */
  readonly fact: string;
  /** Figures and examples for the report, which `--compare` ignores. */
  readonly details?: string | undefined;
  readonly option?: Suggestion | undefined;
  /** What the user of the client can do if no option helps. */
  readonly advice?: string | undefined;
  /** Name of an option that no check may suggest because of this verdict. */
  readonly withdraws?: string | undefined;
}

type Judge = (fact: string, details?: string, advice?: string) => Verdict;
const judgeAs =
  (result: Result): Judge =>
  (fact, details, advice) => ({ result, fact, details, advice });

export const confirmed = judgeAs('confirmed');
export const contradicted = judgeAs('contradicted');
export const finding = judgeAs('found');
export const unknown = judgeAs('unknown');

/** A verdict that lists the values sorted and once, and says how often the probe saw each value. */
export const findingOf = (values: readonly string[], separator = ', '): Verdict =>
  finding(
    `${[...new Set(values)].toSorted().join(separator)}.`,
    `${tally(values)
      .map(([value, number]) => `${value} (${number.toLocaleString('en')})`)
      .join(', ')}.`,
  );

/** Counts how often each value occurs, the most frequent value first. */
export function tally(values: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one);
}

export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? noun.replace(/ies$/, 'y').replace(/s$/, '') : noun}`;

export const formatMs = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;

export const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value !== '';
