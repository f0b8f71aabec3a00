/** What the SDK warns of, by the kind that a test file may cause. */
const kinds = {
  account: /could not read account|counts as pending until|list of one account shows transfers/,
  batch: / a batch (?:tries|gives up|did not pay)/,
  doubt: / is sent although .* is in doubt|its journal has no claim of it/,
  early: /called again three times/,
  fetch: /the global fetch was replaced/,
  key: /ignores the header Idempotency-Key/,
  many: /1000 calls of createOnce/,
  hook: / threw, and no payment was affected/,
  journal: /: the journal's /,
  memory: /a journal in memory ends/,
  old: /made more than a week ago/,
  pages: /has read more than \d+ pages/,
  rows: /references of earlier rows|the positions of the rows/,
  seconds: /were seconds meant/,
};

type Kind = keyof typeof kinds;

/** The files of the core whose tests cause warnings without reading them. */
export const expected: Readonly<Record<string, readonly Kind[]>> = {
  'arguments/inputs': ['batch', 'memory'],
  'client/credentials': ['seconds'],
  'client/options': ['seconds'],
  'client/with-options': ['doubt', 'key', 'memory'],
  'errors/call-site': ['doubt', 'journal', 'memory'],
  'errors/http-status': ['journal'],
  'errors/mocks': ['doubt', 'memory'],
  'errors/public-message': ['account'],
  'errors/realms': ['hook', 'journal'],
  'errors/reference': ['batch', 'journal', 'memory', 'rows'],
  'errors/watch': ['batch', 'doubt', 'early', 'hook', 'key', 'memory', 'rows'],
  'money/assumptions': ['doubt'],
  'money/authorize': ['batch'],
  'money/called-again': ['account', 'early'],
  'money/create-all-once-scans': ['batch', 'doubt', 'early', 'journal'],
  'money/create-all-once': ['batch', 'doubt', 'hook', 'memory', 'rows'],
  'money/deadline': ['hook'],
  'money/decide': ['memory'],
  'money/drift': ['doubt', 'early'],
  'money/edge': ['journal'],
  'money/honest-platforms': ['account', 'batch', 'doubt', 'pages'],
  'money/idempotency': ['key'],
  'money/journals': ['journal', 'seconds'],
  'money/late-effects': ['early'],
  'money/list-undecided': ['batch', 'journal'],
  'money/newest-first': ['doubt', 'memory', 'pages'],
  'money/once-states': ['doubt', 'journal', 'many'],
  'money/once': ['journal', 'key', 'memory', 'old'],
  'money/one-transfer': ['batch', 'memory'],
  'money/reconcile-all': ['account', 'journal', 'memory'],
  'money/reconcile': ['account', 'pages'],
  'money/recorded': ['batch', 'journal'],
  'money/search-first': ['journal'],
  'money/stray-responses': ['memory'],
  'money/takeover': ['batch', 'doubt', 'rows'],
  'money/wait-for-all': ['account', 'memory'],
  'money/wait': ['hook'],
  'money/whole-call': ['batch', 'doubt', 'early', 'journal', 'memory'],
  'money/withdrawal': ['journal'],
  'probe/probe': ['key'],
  'probe/run': ['key'],
  'sandbox/msw': ['fetch'],
  'sandbox/requests': ['key'],
  'sandbox/turns': ['batch', 'doubt'],
  'secrets/hooks': ['doubt', 'journal', 'memory', 'rows'],
  'transports/fetch': ['memory'],
};

/** Whether the tests of a file may cause a warning. Every other warning fails the test that causes it. */
export const isExpected = (file: string, warning: string): boolean =>
  // Most tests of creations send the same payment several times.
  /although an earlier create with the same terms/.test(warning) ||
  (expected[file.replace('.test.ts', '')] ?? []).some((kind) => kinds[kind].test(warning));
