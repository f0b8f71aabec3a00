/** Plays random plans, and compares what the SDK says of each call with the ledger. */
const chaos = [
  'full/chaos.test.ts',
  'under random faults every outcome agrees with the ledger',
] as const;

/**
 * The promises of test/README.md, each with the file and the title of the tests that prove it. `%s`
 * and `$…` stand for the rows of a table.
 */
export const promises: Readonly<
  Record<string, readonly (readonly [file: string, name: string])[]>
> = {
  'A write takes effect once at most, however often its connection breaks': [
    chaos,
    ['full/sealing.test.ts', 'a write over a dying connection arrives once, with outcome unknown'],
  ],
  'A call that resolves has taken effect once, and returns the id of that effect': [chaos],
  '`not_sent` means that the platform has not read a byte of the request': [
    chaos,
    ['full/tls.test.ts', 'a creation has outcome not_sent if the TLS handshake ends in %s'],
    ['full/proxy.test.ts', 'a POST is not_sent if the proxy $name after CONNECT ($isWarm)'],
  ],
  '`rejected` means that the request did not take effect': [chaos],
  'An outcome that is not proven is `unknown`, and a creation with that outcome is not `retryable`':
    [
      ['full/plan.test.ts', 'a creation ends as expected after the fault: %s'],
      ['money/outcome.test.ts', 'connectionOutcome returns unknown if one cause proves nothing'],
      ['money/resend.test.ts', 'a call ($kind) after status $status has outcome $outcome'],
    ],
  'A creation with an unknown outcome is not sent again, whatever happened before': [
    ['money/resend.test.ts', 'a creation is not sent again if its retry has outcome unknown'],
  ],
  '`createOnce` makes a payment at most once, and a caller that repeats the call gets the transfer or a rejection':
    [
      ['money/once-states.test.ts', 'callers never make two payments, in any order: %o'],
      [
        'full/proof.test.ts',
        'npm run proof finds every planted mistake, and otherwise no second payment',
      ],
      ['full/once-deaths.test.ts', 'createOnce in %s pays 100 payouts once while workers die'],
    ],
  '`createOnce` sends no payment before its claim is stored, nor after the deadline that the claim implies':
    [
      ['money/once.test.ts', 'createOnce writes its claim, with an expiry, before it sends'],
      ['money/once.test.ts', 'createOnce subtracts the time of a slow journal from its request'],
      ['money/journals.test.ts', 'sqliteJournal writes a claim to disk before swap() resolves'],
    ],
  '`createOnce` takes over a claim only when the earlier request can no longer arrive, and a search has not found the payment':
    [
      [
        'money/once.test.ts',
        "createOnce replaces a dead process's claim only after its request has ended",
      ],
      ['money/once.test.ts', 'createOnce does not pay if a claim expires during its search'],
    ],
  'An operator decides about a transfer that may be the payment': [
    ['money/once.test.ts', 'createOnce rejects as ambiguous and names the possible transfer'],
  ],
  'A journal that fails prevents the payment from being sent, and never fails an accepted one': [
    ['money/once.test.ts', 'createOnce sends nothing if the journal is broken: %s'],
    ['money/once.test.ts', 'createOnce resolves if the journal fails after the payment'],
  ],
  'Every failure is a `PaymentsError` with an outcome, and no rejection stays unhandled': [
    chaos,
    ['money/deadline.test.ts', 'a failed call leaves no timer and no unhandled rejection'],
  ],
  'A call ends within `totalTimeout`, and so does each page of a list, whatever hangs': [
    chaos,
    ['money/deadline.test.ts', 'totalTimeout covers all attempts and the waits between them'],
    ['money/whole-call.test.ts', 'no method that pays or searches takes longer than totalTimeout'],
  ],
  'Nothing is sent after `totalTimeout`, nor after the caller has aborted': [
    ['money/deadline.test.ts', 'nothing is sent after totalTimeout, even after a suspension'],
    ['money/rate-limiter.test.ts', 'is not sent if the machine was suspended past its deadline'],
    ['full/proxy.test.ts', 'a creation is not sent after a timeout before CONNECT'],
  ],
  "Bun and Deno do not repeat a write without the SDK's knowledge": [
    ['full/sealing.test.ts', 'on %s a write over a dying connection arrives once, outcome unknown'],
  ],
  'The response to one payment is never returned to another, even if a server leaves bytes on a connection or sends a response twice':
    [
      ['full/idle.test.ts', 'a creation survives a connection that %s'],
      ['full/surplus.test.ts', 'no payment accepts the second copy of a response: %s'],
    ],
  'On a connection that was used before, `get` rejects the record of another id, and a creation with the id of an earlier one is `unknown`':
    [
      ['money/stray-responses.test.ts', 'get() of %s_1 rejects a response with another id'],
      [
        'money/stray-responses.test.ts',
        'a creation has outcome unknown if its response repeats id %s_1',
      ],
    ],
  'On Node.js nothing below the SDK sends a write again': [
    [
      'transports/node-http.test.ts',
      'a write has outcome unknown after a reset of a %s connection',
    ],
  ],
  'No redirect is followed, and its target receives no request': [chaos],
  '`Retry-After` is honoured by the call that received it and, up to a minute, by the other calls of the client':
    [
      ['money/backoff.test.ts', 'the wait between attempts is never shorter than Retry-After'],
      ['money/rate-limiter.test.ts', 'no call is released during the pause after status 429'],
    ],
  'Behind a rate limiter, a client reaches at least half of the rate, with fewer than two requests per call':
    [
      [
        'money/rate-limiter.test.ts',
        'the limiter reaches half of %d calls per second with %d workers',
      ],
      ['proxies/proxies.test.ts', 'a client makes ten payments a second behind nginx limit_req'],
    ],
  'A call that would be held back for longer than it may wait fails at once, with the data of the 429':
    [
      [
        'money/rate-limiter.test.ts',
        'rejects at once with a RateLimitError if its deadline is short',
      ],
    ],
  '`rejected` comes from the platform itself, or proves that nothing was forwarded': [
    ['money/outcome.test.ts', 'has outcome unknown unless the status proves a rejection'],
    ['proxies/proxies.test.ts', 'createOnce pays once even if its response becomes %s'],
  ],
  'A pause of the process is not a timeout': [
    ['money/deadline.test.ts', 'a response that arrived while the process was suspended is read'],
    [
      'proxies/proxies.test.ts',
      'a %s process reads a response that arrived while it was suspended',
    ],
  ],
  'A write does not use a connection that a server may be closing because it was idle': [
    [
      'proxies/proxies.test.ts',
      'every payment has a known outcome if the server closes idle connections',
    ],
  ],
  'A budget bounds the retries of a client, so that retries cannot cause an outage': [
    ['money/backoff.test.ts', 'the retry budget limits 200 calls that fail at the same time'],
  ],
  'After a 401 a call is sent once more, if a function gives its credential; the new token is fetched once for all calls that wait':
    [
      ['client/credentials.test.ts', 'fifty concurrent responses 401 cause a single new token'],
      ['client/credentials.test.ts', 'a call that received 401 twice sends no third request'],
    ],
  'A credential function that hangs or fails causes a typed error, and nothing is sent': [
    ['client/credentials.test.ts', "error.cause is a copy of the credential function's rejection"],
    [
      'client/credentials.test.ts',
      'the next call retries a credential function that never returned',
    ],
    [
      'client/credentials.test.ts',
      'a hanging credential function is called again after one timeout',
    ],
  ],
  'With `platform.idempotencyHeader`, every attempt of a call carries the same key': [
    chaos,
    ['money/idempotency.test.ts', 'a creation with an idempotency key is resent with that key'],
  ],
  'No error, hook or log shows a credential, not even one that the platform repeats': [
    chaos,
    ['errors/errors.test.ts', 'an error contains no request, response, credential or object of ky'],
    ['secrets/responses.test.ts', 'no error shows a secret in %s of a response, however encoded'],
  ],
  'The SDK reads at most 16 MiB of a response, unpacked, and 64 levels of nesting': [
    ['full/plan.test.ts', 'reads of endless and compressed responses take less than 200 MB'],
  ],
  'A list ends when a cursor repeats, when the same page comes many times, or when only empty pages come':
    [
      [
        'lists/scripts.test.ts',
        'loops over random lists ($way) yield exactly what the platform sent',
      ],
      ['lists/cursor.test.ts', 'a list ends after a thousand empty pages, and can be resumed'],
      ['lists/cursor.test.ts', 'a list ends in an error if the same page keeps coming'],
    ],
  "No listener stays on a caller's signal": [
    ['money/deadline.test.ts', 'no listener stays on the caller’s signal after hundreds of calls'],
    ['money/rate-limiter.test.ts', 'no call is released during the pause after status 429'],
  ],
};
