/*
 * Stands in for all modules of ky except its core. ky's own merge and normalize options three times a call,
 * which was a fifth of a GET, for what the options in attempt.ts switch off: retries, timeouts, hooks, shortcuts.
 * Without the name of an import of ky's core, the build fails. docs/decisions/where-the-time-goes.md.
 */

/** The options of the call; the defaults are none. */
export const validateAndMerge = (_: unknown, options: unknown): unknown => options;
export const mergeHeaders = (_: unknown, headers: unknown): unknown => headers;
export const normalizeRequestMethod = (method: string): string => method;

const noHooks = { beforeRequest: [], beforeRetry: [], beforeError: [], afterResponse: [] };
export const mergeHooks = (): typeof noHooks => noHooks;

const noRetries = { limit: 0 };
export const normalizeRetryOptions = (): typeof noRetries => noRetries;

const nothing = {};
/** All options of a call are options of ky or of a Request. */
export const findUnknownOptions = (): object => nothing;
export const hasSearchParameters = (): boolean => false;

/** ky then adds no shortcuts, and needs no feature of the runtime. */
export const responseTypes = {};
export const requestMethods: string[] = [];
export const supportsAbortController = false;
export const supportsAbortSignal = false;
export const supportsFormData = false;
export const supportsResponseStreams = false;
export const supportsRequestStreams = false;
export const maxSafeTimeout = 2 ** 31 - 1;

/** Also whether an error is one of the network: attempt.ts takes the transport's own error. */
const never = (): boolean => false;
export default never;

// Used only for retries, timeouts, hooks, progress and failed statuses.
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
