/*
 * This file replaces all modules of ky except its core. ky's own modules merge and normalize
 * options three times in each call, which took a fifth of a GET. Those modules serve retries,
 * timeouts, hooks and shortcuts, which the options in attempt.ts switch off. If ky's core imports a
 * name that is missing here, the build fails: docs/decisions/where-the-time-goes.md.
 */

/** Returns the options of the call, because there are no defaults to merge. */
export const validateAndMerge = (_: unknown, options: unknown): unknown => options;
export const mergeHeaders = (_: unknown, headers: unknown): unknown => headers;
export const normalizeRequestMethod = (method: string): string => method;

const noHooks = { beforeRequest: [], beforeRetry: [], beforeError: [], afterResponse: [] };
export const mergeHooks = (): typeof noHooks => noHooks;

const noRetries = { limit: 0 };
export const normalizeRetryOptions = (): typeof noRetries => noRetries;

const nothing = {};
/** Finds no unknown options, because attempt.ts passes only options of ky or of a Request. */
export const findUnknownOptions = (): object => nothing;
export const hasSearchParameters = (): boolean => false;

/** With these values ky adds no shortcut methods, and needs no feature of the runtime. */
export const responseTypes = {};
export const requestMethods: string[] = [];
export const supportsAbortController = false;
export const supportsAbortSignal = false;
export const supportsFormData = false;
export const supportsResponseStreams = false;
export const supportsRequestStreams = false;
export const maxSafeTimeout = 2 ** 31 - 1;

/** Replaces isNetworkError of ky, too, because attempt.ts uses the transport's own error. */
const never = (): boolean => false;
export default never;

// ky's core uses these names only for retries, timeouts, hooks, progress and failed statuses.
export const deletedParametersSymbol = '';
export {
  never as calculateRetryTimingDelay,
  never as cloneShallow,
  never as ForceRetryError,
  never as getRetryTimingHeader,
  never as HTTPError,
  never as isForceRetryError,
  never as isHTTPError,
  never as isKyError,
  never as isNetworkError,
  never as isTimeoutError,
  never as KyError,
  never as NetworkError,
  never as NonError,
  never as replaceOption,
  never as retry,
  never as RetryMarker,
  never as SchemaValidationError,
  never as stop,
  never as streamRequest,
  never as streamResponse,
  never as TimeoutError,
};
