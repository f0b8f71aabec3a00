import { isPlainObject, dropUndefined } from '../internal/objects.ts';
import { isDocumentedErrorBody } from '../internal/status-outcome.ts';
import type { Problem } from '../internal/issues.ts';
import {
  checkBy,
  fields,
  headerName,
  isBoolean,
  optionalCheck,
  reservedHeaders,
  type OptionCheck,
  type OptionChecks,
} from './options.ts';

/** Facts about a platform that the API reference does not state, but you or `payments-probe` can find out. */
export interface PlatformFacts {
  /**
   * Set to true if the platform lists Transfers newest first, by time of creation. Searches for a
   * payment then stop at Transfers older than the payment, unless the list contradicts this order.
   * @default false
   */
  transfersNewestFirst?: boolean | undefined; // The API reference does not say in which order a list is: docs/gaps.md, row 54
  /**
   * The query parameter by which the platform filters Transfers by account. Pass false if the
   * filter hides some Transfers, because `createOnce` would send a hidden payment again; searches
   * then read the Transfers of all accounts.
   * @default 'accountId'
   */
  transfersFilter?: string | false | undefined; // The API reference does not name the account filter: docs/gaps.md, row 6
  /**
   * Set to `as_sent` if the list shows descriptions unchanged; `payments-probe --pay` finds out.
   * Otherwise a payment in doubt is not sent again if any transfer has its terms.
   */
  descriptions?: 'as_sent' | undefined; // The API reference does not say whether a description comes back unchanged: docs/gaps.md, row 60
  /**
   * Returns true if the JSON of an error response comes from the platform. If not, the outcome of a
   * write is mostly `unknown`, because a proxy may have responded.
   * @default an object with strings in `error` and `code`
   */
  isErrorBody?: ((body: unknown) => boolean) | null | undefined;
  /**
   * Name of the header for idempotency keys, such as `Idempotency-Key`. Set it only if the
   * platform honours the key, because the SDK then sends one key in every attempt of a POST, and
   * resends creations after unknown outcomes.
   * @default none
   */
  idempotencyHeader?: string | null | undefined; // The API reference has no idempotency key: docs/gaps.md, row 51
}

export type ResolvedPlatform = ReturnType<typeof resolvePlatform>;

function describeKeyHeaderProblem(name: unknown): Problem | string | undefined {
  if (name === undefined || name === null) return undefined;
  if (typeof name !== 'string' || !headerName.test(name)) {
    return { expected: 'a header name, such as Idempotency-Key' };
  }
  // An idempotency key in a header such as `accept` would be overwritten, and a retried creation
  // could take effect twice.
  const reservedNames = [...reservedHeaders, 'accept', 'accept-encoding', 'cookie', 'user-agent'];
  return reservedNames.includes(name.toLowerCase())
    ? `${name} has another meaning; name the header that the platform reads keys from, such as Idempotency-Key`
    : undefined;
}

const describeFilterProblem = (name: unknown): Problem | undefined =>
  name === undefined ||
  name === false ||
  (typeof name === 'string' && /^(?!cursor$|limit$)\S+$/.test(name))
    ? undefined
    : { expected: "the name of a query parameter, such as 'accountId', or false" };

const factChecks = (): OptionChecks<PlatformFacts> => ({
  transfersNewestFirst: isBoolean,
  transfersFilter: checkBy(describeFilterProblem),
  descriptions: optionalCheck("'as_sent'", (value) => value === 'as_sent'),
  isErrorBody: optionalCheck(
    'a function',
    (value) => value === null || typeof value === 'function',
  ),
  idempotencyHeader: checkBy(describeKeyHeaderProblem),
});

/** Checks the client option `platform`, and each of its fields. */
export const platformCheck: OptionCheck = (value, at, issues) => {
  if (value !== undefined) fields(factChecks())(value, at, issues);
};

/** Where an option of version 0.4.0 now belongs; undefined if the option is no fact of a platform. */
export const findFact = (name: string): string | undefined =>
  Object.hasOwn(factChecks(), name) ? `platform.${name}` : undefined;

/**
 * The facts of a client that `withOptions` copies, with some of them replaced. A value that is no
 * plain object is returned as it is, so that the check of the new client rejects it.
 */
export const mergePlatform = (
  facts: PlatformFacts | undefined,
  changes: PlatformFacts | undefined,
): PlatformFacts | undefined =>
  changes === undefined || isPlainObject(changes)
    ? { ...facts, ...dropUndefined(changes) }
    : changes;

/** The facts with the defaults of those that the user did not state. */
export const resolvePlatform = ({
  transfersNewestFirst = false,
  transfersFilter = 'accountId',
  descriptions,
  isErrorBody,
  idempotencyHeader,
}: PlatformFacts = {}) => ({
  transfersNewestFirst,
  transfersFilter,
  descriptions,
  isErrorBody: isErrorBody ?? isDocumentedErrorBody,
  idempotencyHeader: idempotencyHeader ?? undefined,
});
