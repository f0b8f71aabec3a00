import type { PlatformFacts } from '../../../calls/platform.ts';

export type Result = 'confirmed' | 'contradicted' | 'found' | 'unknown';

/** A field of the client option `platform` that the probe suggests because of what it saw. */
export interface Suggestion {
  readonly name: keyof PlatformFacts;
  /** The value, or for `isErrorBody` the TypeScript of the function. */
  readonly value: string | boolean;
  readonly reason: string;
}

export interface Verdict {
  readonly result: Result;
  /** What the probe saw, the conclusion first. */
  readonly seen: string;
  readonly option?: Suggestion | undefined;
  /** What the user of the client can do if no option helps. */
  readonly advice?: string | undefined;
  /** A field of `platform` that no check may suggest because of this verdict. */
  readonly withdraws?: keyof PlatformFacts | undefined;
}

type Judge = (fact: string, details?: string, advice?: string) => Verdict;
const judgeAs =
  (result: Result): Judge =>
  (fact, details = '', advice) => ({ result, seen: `${fact} ${details}`.trim(), advice });

export const confirmed = judgeAs('confirmed');
export const contradicted = judgeAs('contradicted');
export const finding = judgeAs('found');
export const unknown = judgeAs('unknown');

export const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? noun.replace(/s$/, '') : noun}`;

export const formatMs = (ms: number): string =>
  ms < 1_000 ? `${Math.round(ms)} ms` : `${Number((ms / 1_000).toFixed(1))} s`;

export const isFilled = (value: unknown): value is string =>
  typeof value === 'string' && value !== '';
