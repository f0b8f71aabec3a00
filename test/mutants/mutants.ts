import type { Mutant } from './apply.ts';

/*
 * Ways in which this SDK could be wrong about money, credentials or the end of a list. Each has to be
 * seen by a test of the core: `npm run mutants`. One that no longer applies because the source was
 * rewritten is to be fitted to it again, or goes when what it breaks is gone.
 */

/** What is broken, the text that occurs once in the file, what stands in its place; tests if they are others. */
type Row = readonly [name: string, from: string, to: string, tests?: string];

const inFile = (file: string, tests: string, ...rows: readonly Row[]): readonly Mutant[] =>
  rows.map(([name, from, to, others]) => ({
    name,
    changes: [{ file, from, to }],
    tests: (others ?? tests).split(' '),
  }));

const operations: readonly Mutant[] = [
  ...inFile(
    'resources/entities.ts',
    'money/operations',
    ['creating an entity is a read', "kind: 'once'", "kind: 'safe'"],
    ['an entity needs no id', 'isUsable: hasId(entityIdSchema()),', ''],
  ),
  ...inFile(
    'resources/accounts.ts',
    'money/operations',
    ['creating an account is a read', "kind: 'once'", "kind: 'safe'"],
    ['changing an account is a read', "kind: 'idempotent'", "kind: 'safe'"],
    [
      'a new account needs no id',
      'answer: compiled(accountCreatedSchema()),\n        isUsable: hasId(accountIdSchema()),',
      'answer: compiled(accountCreatedSchema()),',
    ],
    [
      'a changed account needs no id',
      'answer: compiled(accountSchema()),\n        isUsable: hasId(accountIdSchema()),',
      'answer: compiled(accountSchema()),',
    ],
  ),
  ...inFile(
    'resources/transfers.ts',
    'money/operations',
    ['creating a transfer is a read', "kind: 'once'", "kind: 'safe'"],
    ['creating a transfer may be repeated', "kind: 'once'", "kind: 'idempotent'", 'money/resend'],
    ['a transfer needs no id', 'isUsable: hasId(transferIdSchema()),', ''],
    [
      'a description may be given where reconcile does not look',
      'elsewhere: soughtByReconcile,',
      '',
      'client/request-options',
    ],
  ),
  ...inFile('resources/counterparties.ts', 'money/operations', [
    'deleting a counterparty is a read',
    "kind: 'idempotent'",
    "kind: 'safe'",
  ]),
  ...inFile('resources/ibans.ts', 'money/operations', [
    'deleting an IBAN is a read',
    "kind: 'idempotent'",
    "kind: 'safe'",
  ]),
  ...inFile('resources/settings.ts', 'money/operations', [
    'changing the settings is a read',
    "kind: 'idempotent'",
    "kind: 'safe'",
  ]),
  ...inFile('resources/instructions.ts', 'money/operations', [
    'building an instruction is a creation',
    "kind: 'safe',\n        method: 'POST'",
    "kind: 'once',\n        method: 'POST'",
  ]),
  ...inFile(
    'resources/request.ts',
    'money/operations',
    ['a POST of one’s own is a read', "POST: 'once'", "POST: 'safe'"],
    ['a PATCH of one’s own is a read', "PATCH: 'idempotent'", "PATCH: 'safe'"],
    ['a PUT of one’s own is a read', "PUT: 'idempotent'", "PUT: 'safe'"],
    ['a DELETE of one’s own is a read', "DELETE: 'idempotent'", "DELETE: 'safe'"],
  ),
];

const outcomes: readonly Mutant[] = [
  ...inFile(
    'errors/outcome.ts',
    'money/outcome',
    [
      '503 is a refusal',
      'status === 308 ||',
      'status === 308 || status === 503 ||',
      'money/resend',
    ],
    ['408 is a refusal', 'status === 408 || status === 499', 'status === 499', 'money/resend'],
    ['499 is a refusal', 'status === 408 || status === 499', 'status === 408', 'money/resend'],
    ['302 is a refusal', 'status === 307 ||', 'status === 302 || status === 307 ||'],
    ['a redirected write is a refusal', "status < 400 && kind === 'safe'", 'status < 400'],
    [
      'a status is believed after the request was begun twice',
      "if (repeated && kind !== 'safe') return 'unknown';",
      '',
    ],
    [
      'ECONNRESET means not sent',
      "outcome: proven ? 'not_sent' : 'unknown'",
      "outcome: proven || code === 'ECONNRESET' ? 'not_sent' : 'unknown'",
      'money/resend',
    ],
    [
      'the word of the wire is turned round',
      ': !evidence.started;',
      ': evidence.started;',
      'money/operations',
    ],
    ['a wire that may repeat is believed', 'wire.sendsOnce &&', ''],
    [
      'one of several errors proves that nothing was sent',
      'leaves.every((leaf) => provesNothingSent',
      'leaves.some((leaf) => provesNothingSent',
    ],
    ['a refused certificate is tried again', 'transient: !refusedCertificate', 'transient: true'],
    [
      'the last attempt decides',
      'severity[outcome] > severity[worst] ? outcome : worst',
      'worst && outcome',
      'money/resend',
    ],
  ),
  ...inFile(
    'calls/failure.ts',
    'money/resend',
    [
      'an abort means not sent',
      'return aborted(result.why.reason, outcome,',
      "return aborted(result.why.reason, 'not_sent',",
    ],
    [
      'a timeout means not sent',
      "'connect' : 'headers',\n          outcome,",
      "'connect' : 'headers',\n          'not_sent',",
    ],
    [
      'the end of all time means not sent',
      "timedOut('total', outcome,",
      "timedOut('total', 'not_sent',",
      'money/deadline',
    ],
    [
      'a request that could not even be made is tried again',
      'verdict.transient && result.dispatched',
      'verdict.transient',
      'errors/unforeseen wires/fetch',
    ],
  ),
  ...inFile(
    'calls/answer-failure.ts',
    'money/resend',
    [
      'a success that cannot be read is a refusal',
      "outcome: 'unknown',\n    status,",
      "outcome: 'rejected',\n    status,",
    ],
    [
      'a body that stalls is a refusal',
      "timedOut('body', 'unknown'",
      "timedOut('body', 'rejected'",
    ],
    ['an answer that is wrong is asked for again', "reason === 'truncated'", 'true'],
  ),
  ...inFile('calls/error-context.ts', 'money/resend', [
    'a doubtful creation is called retryable',
    "transient && !(context.kind === 'once' && context.outcome === 'unknown')",
    'transient',
  ]),
  ...inFile(
    'calls/answer.ts',
    'money/operations',
    [
      'an accepted write fails over its shape',
      "call.kind === 'safe' ? context.validation === 'report' : isObject(parsed)",
      "context.validation === 'report'",
    ],
    [
      'a read of another shape is handed out',
      "call.kind === 'safe' ? context.validation",
      "call.kind === 'safe' ? true || context.validation",
      'money/operations answers',
    ],
    ['an id of another form will do', 'checked.success && isUsable', 'checked.success'],
    [
      'a write of another shape needs no id',
      '!isUsable || !accepted',
      '!accepted',
      'answers/answers',
    ],
    ['a redirect is a success', 'answer.status > 299', 'answer.status > 399', 'wires/fetch'],
    [
      'nobody hears of an answer of another shape',
      'context.hooks.onDrift',
      'undefined',
      'answers/answers',
    ],
  ),
];

const retries: readonly Mutant[] = [
  ...inFile(
    'calls/retry.ts',
    'money/backoff',
    [
      'a write is sent again after a broken connection',
      "kind === 'safe' || failed.outcome === 'not_sent'",
      "kind === 'safe' || failed.status === undefined || failed.outcome === 'not_sent'",
      'money/resend',
    ],
    [
      'a 429 to what was begun twice is sent again',
      "failed.outcome === 'rejected' && refusedForNow",
      'refusedForNow',
      'money/outcome',
    ],
    [
      'what will fail again is sent again',
      'if (!failed.transient) return false;',
      '',
      'money/resend',
    ],
    ['425 is final', 'status === 425 ||', '', 'money/resend'],
    ['501 is sent again', 'status !== 501 && ', '', 'money/resend'],
    ['Retry-After is undercut', 'return Math.max(backoff,', 'return Math.min(backoff,'],
    [
      'waits grow for ever',
      'Math.min(longestBackoff, base * 2 ** (retry - 1))',
      'base * 2 ** (retry - 1)',
    ],
    ['waits do not grow', 'base * 2 ** (retry - 1)', 'base'],
    [
      'all clients wait equally long',
      'random() * Math.min(longestBackoff',
      'Math.min(longestBackoff',
    ],
    [
      'a date in Retry-After is read by our own clock',
      'Number.isNaN(sentAt) ? now : sentAt',
      'now',
    ],
    ['a platform that forbids repeats is not heeded', "=== 'false'", "=== 'no'", 'money/resend'],
    ['the budget never runs out', 'this.#tokens = left;', ''],
    [
      'failed work may use up the whole budget',
      'cost === costs.afterNone ? 0 : RetryBudget.reserve',
      '0',
    ],
    ['one success fills the budget', 'this.#tokens + (lastCost ?? 1)', 'RetryBudget.capacity'],
    [
      'a 429 costs as much as failed work',
      "failed.outcome === 'not_sent' || failed.status === 429",
      "failed.outcome === 'not_sent'",
    ],
  ),
  ...inFile(
    'calls/transport.ts',
    'money/backoff',
    ['one retry too many', 'retries >= maxRetries', 'retries > maxRetries'],
    [
      'any wait that is asked for is waited',
      'failed.retryAfterMs > longestWait',
      'failed.retryAfterMs < 0',
    ],
    [
      'a wait may be longer than the time that is left',
      'delayMs >= total.remaining',
      'delayMs < 0',
    ],
    ['nobody asks the budget', '!this.#setup.budget.take(cost)', 'cost < 0'],
    ['a success gives nothing back', 'budget.refund(lastCost);', ''],
    [
      'the gate never hears of a 429',
      'failed?.status === 429 ?',
      'failed?.status === 0 ?',
      'money/gate',
    ],
    [
      'an attempt without an answer is forgotten',
      'if (failure !== undefined) state.attempts.push',
      'if (failure?.status !== undefined) state.attempts.push',
      'money/resend',
    ],
    [
      'every attempt has a key of its own',
      'headers: { ...prepared.headers, authorization',
      "headers: { ...prepared.headers, ...(prepared.idempotencyKey && { 'idempotency-key': crypto.randomUUID() }), authorization",
      'money/idempotency',
    ],
    [
      'a key makes no repeat safe',
      "prepared.idempotencyKey === undefined ? call.kind : 'safe'",
      'call.kind',
      'money/idempotency',
    ],
    [
      'a token is replaced over and over',
      'replayed = true;',
      'replayed = state.attempts.length > 30;',
      'client/credentials',
    ],
    [
      'a call cannot be aborted',
      'signals: [own.signal, cancel]',
      'signals: [cancel]',
      'money/deadline',
    ],
    [
      'a page ahead cannot be called off',
      'signals: [own.signal, cancel]',
      'signals: [own.signal]',
      'lists/ahead',
    ],
    [
      'an attempt may take the time of the whole call',
      "Deadline(clock, timeout, 'attempt'",
      "Deadline(clock, state.totalTimeout, 'attempt'",
      'money/resend',
    ],
  ),
  ...inFile(
    'calls/prepare.ts',
    'money/idempotency',
    ['a blank key is a key', "idempotencyKey?.trim() === ''", "idempotencyKey === '#'"],
    ['the key of the caller is not taken', '(givenKey(resolved.headers', '(givenKey({}'],
    [
      'a field may be given twice',
      'if (isGiven(given, name)) issues.push',
      'if (issues.length < 0) issues.push',
      'client/request-options',
    ],
    [
      'a number in a query may have lost digits',
      'if (isUnsafe(value)) return unsafeRule;',
      '',
      'client/request-options',
    ],
  ),
];

const waits: readonly Mutant[] = [
  ...inFile(
    'calls/gate.ts',
    'money/gate',
    [
      'the gate stands open',
      'this.#closedUntil === undefined) return this.#noteThrottle',
      'this.#clock !== undefined) return this.#noteThrottle',
    ],
    ['all go at once when a pause is over', 'this.#isProbing ? 1 : this.#limit', 'this.#limit'],
    ['a pause may take for ever', 'Math.min(ms, longestWait)', 'ms'],
    [
      'a shorter pause ends a longer one',
      'Math.max(this.#closedUntil ?? 0, now + this.#lastPause)',
      'now + this.#lastPause',
    ],
    ['a call waits though its time is too short', 'wait > deadline.remaining ||', ''],
  ),
  ...inFile(
    'calls/deadline.ts',
    'money/deadline',
    [
      'a deadline is no more than its timer',
      'this.#stopped === undefined && this.#endsAt <= this.#clock.elapsed()',
      'this.#stopped === undefined && this.#endsAt < 0',
    ],
    ['a signal that was aborted before is not seen', 'if (signal.aborted) onAbort();', ''],
    ['a call leaves its listeners', 'for (const forget of this.#forgetSignals) forget();', ''],
    ['a call leaves its timer', 'this.#clock.clearTimeout(this.#timer);', ''],
    ['an attempt outlives its call', 'this.#stop(stopped.why);', ''],
  ),
  ...inFile(
    'resources/wait.ts',
    'money/wait',
    [
      'a failed transfer has arrived',
      "seen.status === 'completed'\n",
      'progress.get(seen.status) === final\n',
    ],
    ['another’s answer will do', '|| seen.id !== id', ''],
    ['a transfer may go back', 'if (isBehind(seen, furthest))', 'if (id === undefined)'],
    [
      'a transfer that is not found is waited for',
      'last === undefined && young',
      'last === undefined',
    ],
    [
      'a new transfer that is not found yet does not exist',
      'patienceWith404 = 30_000',
      'patienceWith404 = 0',
    ],
    ['one failed look ends the wait', 'failuresInARow = 5', 'failuresInARow = 1'],
    ['looks become no rarer', 'pause *= 1.5;', ''],
    ['looks become rarer for ever', 'Math.min(pause, longestInterval)', 'pause'],
    [
      'whoever no longer waits is told that nothing was sent',
      "outcome: 'unknown',\n        startedAt,\n        cause: error.why.reason",
      "outcome: 'not_sent',\n        startedAt,\n        cause: error.why.reason",
    ],
  ),
];

const reconciling: readonly Mutant[] = [
  ...inFile(
    'resources/reconcile.ts',
    'money/reconcile',
    [
      'what arrives is what was sent',
      "transfer.direction === 'incoming'",
      'transfer.id === undefined',
    ],
    ['the first of several is it', 'certain.length + rivals.length === 1', 'certain.length > 0'],
    ['what is older counts', 'if (created.latest < earliest) continue;', ''],
    ['one doubtful transfer is none', 'candidates.length > 0', 'candidates.length > 1'],
    ['a list that moved is read once', 'const maxWalks = 3', 'const maxWalks = 1'],
    [
      'a search that failed says that nothing was sent',
      'error instanceof PaymentsError ? stillInDoubt(error, search.start) : error',
      'error',
    ],
    [
      'a clock that is ahead hides a transfer',
      'if (difference > findings.ahead) findings.ahead = difference;',
      '',
    ],
    ['no clock may be off', 'start - clockSkew - ahead', 'start'],
    ['a search may begin in the future', 'start > now + clockSkew', 'start < 0'],
  ),
  ...inFile(
    'resources/compare-transfer.ts',
    'money/reconcile',
    ['parties do not matter', "if (parties.includes('other')) return 'other';", ''],
    ['money does not matter', "if (money.includes('other')) return 'other';", ''],
    ['amounts are compared as texts', 'canonical(seen) === canonical(wanted)', 'seen === wanted'],
    ['another currency will do', "wanted.currency ?? 'USDC'", "shownText(transfer.currency) ?? ''"],
    [
      'a transfer whose destination is not shown is another',
      "if (account === undefined && counterparty === undefined) return 'unclear';",
      "if (account === undefined && counterparty === undefined) return 'other';",
    ],
  ),
  ...inFile('resources/compare-texts.ts', 'money/reconcile', [
    'what is written otherwise is another',
    "lettersOf(seen) === lettersOf(wanted) ? 'unclear' : 'other'",
    "'other'",
  ]),
];

const credentials: readonly Mutant[] = [
  ...inFile(
    'calls/credential.ts',
    'client/credentials',
    [
      'every call asks for a token of its own',
      'this.#fetching !== undefined && now',
      'patience < 0 && now',
    ],
    ['a token is used after its end', '&& this.#clock.now() < this.#token.expiresAt', ''],
    [
      'a refused token is used again',
      'if (this.#token?.value === token) this.#token = undefined;',
      '',
    ],
    ['a late refusal costs the new token', 'if (this.#token?.value === token) this', 'this'],
    ['an older token takes the place of a newer', 'if (call > this.#newest)', 'if (call > 0)'],
    ['an API key goes where a JWT belongs', "kind === 'jwt' && isKey", 'value.length < 0'],
    [
      'what a function returns is not looked at',
      "value !== 'string' || problem !== undefined",
      "value !== 'string'",
    ],
    [
      'a token that was fetched is not redacted',
      "if (typeof value === 'string') this.#remember(value);",
      '',
    ],
  ),
  ...inFile(
    'client.ts',
    'client/with-options',
    [
      'a tenant’s clone uses the key of another',
      "same('apiKey') && same('baseUrl')",
      "same('baseUrl')",
    ],
    [
      'a clone has a budget of its own',
      'const shared: Partial<Shared> = {\n      budget,',
      'const shared: Partial<Shared> = {',
    ],
    [
      'root endpoints get the API key',
      'credential: jwt,',
      'credential: apiKey,',
      'nouns/endpoints',
    ],
  ),
  ...inFile(
    'errors/redact.ts',
    'secrets/answers',
    [
      'credentials are not redacted',
      '  return (text) => {\n',
      '  if (secrets) return (text) => text;\n  return (text) => {\n',
    ],
    [
      'headers that carry secrets are shown',
      'secretHeader.test(name) ? mark : redact(value)',
      'redact(value)',
      'errors/hooks',
    ],
    ['a credential in a key is shown', 'redact(key),', 'key,', 'secrets/objects'],
    ['an escaped credential is shown', 'const layers = 9', 'const layers = 0'],
  ),
  ...inFile('calls/attempt.ts', 'errors/errors', [
    'the cause is an error that holds the request',
    'error: wireError ?? error',
    'error',
  ]),
  ...inFile('errors/error-copy.ts', 'errors/errors', [
    'a body is cut inside a credential',
    'clean.slice(0, -longestSecret)',
    'clean',
  ]),
  ...inFile('calls/option-checks.ts', 'client/call-options', [
    'a caller may set the header of the credential',
    "  'authorization',\n",
    '',
  ]),
  ...inFile('calls/base-url.ts', 'client/options', [
    'a credential may go over plain http',
    "url.protocol === 'http:' && isLoopback(url.hostname)",
    "url.protocol === 'http:'",
  ]),
  ...inFile('wires/fetch.ts', 'wires/fetch', [
    'a fetch that followed a redirect is believed',
    'given.redirected === true',
    'given.status === 0',
  ]),
];

const bodies: readonly Mutant[] = [
  ...inFile(
    'calls/attempt.ts',
    'answers/answers',
    [
      'redirects are followed',
      "redirect: 'manual'",
      "redirect: 'follow'",
      'money/outcome wires answers',
    ],
    ['a page of any length is read', 'error: mebibyte', 'error: 2 ** 40'],
    ['an answer of any length is read', 'success: 16 * mebibyte', 'success: 2 ** 40'],
    ['a stream of any length is read', "if (room < 0) return 'too_large';", ''],
    ['bytes that are no text are made into one', '{ fatal: true }', '{}'],
    [
      'a fetch that failed has sent nothing',
      'trace.started = undefined;',
      '',
      'money/outcome money wires',
    ],
    [
      'a request goes out after its call has ended',
      'deadline.check();\n    dispatched = true;',
      'dispatched = true;',
      'money/deadline',
    ],
  ),
  ...inFile('wires/reply.ts', 'answers/answers', [
    'an answer over Node’s wire has no limit',
    'if (this.#size > this.#limit) this.#overflow();',
    '',
  ]),
  ...inFile(
    'wires/dispatcher.ts',
    'wires/dispatcher',
    ['the wire forgets that it started', 'this.#trace.started = true;', '', 'money/deadline'],
    ['a write is begun again behind our back', 'if (!this.#mayRepeat)', 'if (this.#hasFailed)'],
    [
      'a dispatcher of others is believed',
      'if (!isNodesOwn(dispatcher)) {',
      'if (request.url === "") {',
    ],
    [
      'a GET loses its body',
      'body: request.body ?? null',
      "body: request.method === 'GET' ? null : (request.body ?? null)",
      'wires/get-with-body nouns/endpoints',
    ],
  ),
  ...inFile('wires/node-http.ts', 'wires/get-with-body', [
    'the body of a GET has no length',
    "headers['content-length'] = String(payload.byteLength);",
    '',
  ]),
  ...inFile('calls/choose-wire.ts', 'wires/browser', [
    'a browser sends writes',
    "call.kind === 'safe' || !isBrowser()",
    'call.kind',
  ]),
  ...inFile(
    'wires/json.ts',
    'answers/json',
    ['a long integer loses digits', 'return BigInt(source);', 'return value;'],
    ['a long negative integer loses digits', ' || value < Number.MIN_SAFE_INTEGER', ''],
    ['a long integer of a large answer loses digits', 'if (digits > 15)', 'if (digits > 99)'],
    [
      'a bigint is sent as a number',
      'json.rawJSON(String(original))',
      'Number(original)',
      'answers/json money',
    ],
    ['an answer may be of any depth', "if (found === 'too deep') throw tooDeep();", ''],
    ['an answer may give itself a prototype', "if (key === '__proto__') return undefined;", ''],
  ),
  ...inFile('calls/json-copy.ts', 'arguments answers', [
    'a number in a body may have lost digits',
    'else if (isUnsafe(value)) refuse(unsafeRule);',
    '',
  ]),
];

const inputs: readonly Mutant[] = [
  ...inFile(
    'schemas/primitives.ts',
    'arguments/inputs',
    ['nothing may be paid', '/[1-9]/.test(value)', "value !== ''"],
    ['an amount may be finer than a wei', '(\\.\\d{1,18})?$/', '(\\.\\d{1,99})?$/'],
    ['an amount may begin with zeros', '/^(0|[1-9]\\d{0,29})', '/^(\\d{1,30})'],
    ['an id may hold a slash', '[^\\\\s/\\\\\\\\?#%', '[^\\\\s\\\\\\\\?#%', 'arguments/ids'],
    [
      'a number beyond 2^53 will do',
      'Number.isInteger(value) && !Number.isSafeInteger(value)',
      "value === ''",
    ],
  ),
  ...inFile(
    'schemas/transfer.ts',
    'arguments/inputs nouns/transfers',
    [
      'a transfer may go to two',
      '(input.destinationAccountId === undefined) !== (input.counterpartyId === undefined)',
      'input.destinationAccountId !== undefined || input.counterpartyId !== undefined',
    ],
    [
      'an unknown field of a transfer is sent',
      'z.strictObject(transferCreateInputShape())',
      'z.looseObject(transferCreateInputShape())',
    ],
    [
      'an unknown filter of transfers is sent',
      'z.strictObject(transferListQueryShape())',
      'z.looseObject(transferListQueryShape())',
    ],
  ),
  ...inFile('schemas/account.ts', 'arguments/inputs', [
    'an unknown field of an account is sent',
    'z.strictObject(accountUpdateInputShape())',
    'z.looseObject(accountUpdateInputShape())',
  ]),
  ...inFile(
    'calls/arguments.ts',
    'answers/request',
    ['a path may climb', '/^(\\.|%2e){1,2}(;|$)/i.test(segment)', 'segment.length < 0'],
    ['a path may name a host', "|| given.startsWith('//')", ''],
  ),
  ...inFile('options.ts', 'client/options', [
    'an option that is misspelt is ignored',
    "refuseUnknown(options, optionNames, 'option');",
    '',
  ]),
  ...inFile('calls/hooks.ts', 'errors/hooks', [
    'a hook that throws ends a payment',
    '// Watching a payment must not break it.',
    "throw new Error('of a hook');",
  ]),
];

const lists: readonly Mutant[] = [
  ...inFile(
    'lists/pager.ts',
    'lists/cursor',
    ['a list goes round in circles', 'seen.has(cursor)', 'seen.has(call)'],
    [
      'a list ends where a cursor is missing',
      "broken('missing_cursor', 'says",
      "undefined && broken('missing_cursor', 'says",
    ],
    ['empty pages never end', 'const maxEmptyPages = 1_000', 'const maxEmptyPages = 2_000'],
    [
      'a list ends before its last page',
      'if (!page.hasMore)',
      'if (!page.hasMore || page.data.length === 0)',
    ],
    ['what follows the last page is asked for', 'if (!page.hasMore) return undefined;', ''],
    ['one page is sent for ever', 'const sameInARow = 10', 'const sameInARow = 20', 'lists/offset'],
    ['toArray takes one more', 'items.length === max', 'items.length > max', 'lists/walk'],
  ),
  ...inFile(
    'lists/list.ts',
    'lists/offset',
    ['a short page is the last', 'data.length === 0 ? null', 'data.length < 2 ? null'],
    [
      'one record of each page is lost',
      'Number(skip ?? 0) + data.length',
      'Number(skip ?? 0) + data.length + 1',
    ],
    ['a list begins anew at its second page', 'Number(skip ?? 0)', '0'],
    ['filters are lost at the second page', '{ ...filters, cursor }', '{ cursor }', 'lists'],
    [
      'a list of something else is walked',
      '{ isUsable: isPage, askAhead: walk.askAhead }',
      '{ askAhead: walk.askAhead }',
      'lists answers',
    ],
  ),
  ...inFile(
    'lists/iterators.ts',
    'lists/ahead',
    [
      'a page is asked for that nobody wants',
      'this.#pagesHandedOut > 1',
      'this.#pagesHandedOut > 0',
    ],
    ['no page is asked for ahead', 'this.#pagesHandedOut > 1', 'this.#pagesHandedOut > 1_000'],
    [
      'a loop that was left goes on asking',
      'this.#cancel.abort();\n    this.#awaited',
      'this.#awaited',
    ],
    [
      'an error does not say where to go on',
      'error.resume ??= this.#resumeAt(position)',
      'error.resume',
      'lists/resume',
    ],
    [
      'a page that failed ahead fails for ever',
      'this.#ahead = undefined;\n    let page',
      'let page',
      'lists',
    ],
  ),
];

/** What takes more than one change. */
const more: readonly Mutant[] = [
  {
    name: '503 is sent again',
    changes: [
      {
        file: 'calls/retry.ts',
        from: 'status === 425 ||',
        to: 'status === 425 || status === 503 ||',
      },
      {
        file: 'calls/retry.ts',
        from: "failed.outcome === 'rejected' && refusedForNow",
        to: 'refusedForNow',
      },
    ],
    tests: ['money/operations'],
  },
  {
    name: 'the word of the wire is not heard',
    changes: [
      {
        file: 'errors/outcome.ts',
        from: 'evidence.started === undefined\n',
        to: 'evidence !== undefined\n',
      },
      { file: 'errors/outcome.ts', from: 'evidence.foreign !== true &&', to: '' },
    ],
    tests: ['money/outcome', 'wires/dispatcher'],
  },
];

export const mutants: readonly Mutant[] = [
  ...operations,
  ...outcomes,
  ...retries,
  ...waits,
  ...reconciling,
  ...credentials,
  ...bodies,
  ...inputs,
  ...lists,
  ...more,
];
