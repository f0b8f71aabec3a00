/** Plays random plans, and compares what the SDK says of each call with the ledger. */
const chaos = [
  'full/chaos.test.ts',
  'under random faults, the outcome of every call agrees with the transfers that the platform has made',
] as const;

/**
 * The promises of docs/errors.md, each with the file and the title of the tests that prove it. `%s`
 * and `$…` stand for the rows of a table.
 */
export const promises: Readonly<
  Record<string, readonly (readonly [file: string, name: string])[]>
> = {
  'A write takes effect once at most, however often its connection breaks': [
    chaos,
    [
      'full/sealing.test.ts',
      'a write arrives once and has the outcome unknown if the reused connection dies after the platform has made the change',
    ],
  ],
  'A call that resolves has taken effect once, and returns the id of that effect': [chaos],
  '`not_sent` means that the platform has not read a byte of the request': [
    chaos,
    [
      'full/tls.test.ts',
      'a creation has the outcome not_sent if the TLS handshake ends in %s, and is sent again if another attempt may succeed',
    ],
    ['full/proxy.test.ts', 'a POST is not_sent if the proxy $name after CONNECT ($isWarm)'],
  ],
  '`rejected` means that the request did not take effect': [chaos],
  'An outcome that is not proven is `unknown`, and a creation with that outcome is not `retryable`':
    [
      ['full/plan.test.ts', 'a creation ends as expected after the fault: %s'],
      [
        'money/outcome.test.ts',
        'connectionOutcome returns unknown if one of several causes does not prove that nothing was sent',
      ],
      [
        'money/resend.test.ts',
        'a call ($kind) that receives status $status ends as $outcome after the expected number of attempts',
      ],
    ],
  'A creation with an unknown outcome is not sent again, whatever happened before': [
    [
      'money/resend.test.ts',
      'a creation is not retried again if its retry after a 429 ends as unknown',
    ],
  ],
  '`createOnce` makes a payment at most once, and a caller that repeats the call gets the transfer or a rejection':
    [
      [
        'money/once-states.test.ts',
        'callers never make two payments, in any interleaving of their steps: %o',
      ],
      ['full/once-states.test.ts', 'callers never pay twice in any order: %o'],
      [
        'full/once-deaths.test.ts',
        'createOnce with a journal in %s pays each of 100 payouts exactly once, even if workers are killed and suspended',
      ],
    ],
  '`createOnce` sends nothing before its claim is on disk, and nothing after the deadline that the claim implies':
    [
      [
        'money/once.test.ts',
        'createOnce writes its claim, with the expiry, before it sends anything',
      ],
      [
        'money/once.test.ts',
        'createOnce subtracts the time that a slow journal took from the time of its request',
      ],
      [
        'money/journals.test.ts',
        'sqliteJournal has written a claim to disk before swap() resolves',
      ],
    ],
  '`createOnce` takes over a claim only when the earlier request can no longer arrive, and a search has not found the payment':
    [
      [
        'money/once.test.ts',
        'createOnce replaces the claim of a dead process and pays only after the request of that process can no longer take effect',
      ],
      [
        'money/once.test.ts',
        'createOnce does not send a payment again if the claim of a dead process expires during the search of the list',
      ],
    ],
  'An operator decides about a transfer that may be the payment': [
    [
      'money/once.test.ts',
      'createOnce rejects as ambiguous and names the transfer that may be the payment',
    ],
  ],
  'A journal that fails prevents the payment from being sent, and never fails an accepted one': [
    [
      'money/once.test.ts',
      'createOnce sends nothing and rejects with PaymentInDoubtError when the journal is broken: %s',
    ],
    [
      'money/once.test.ts',
      'createOnce resolves even if the journal fails after the platform has accepted the payment',
    ],
  ],
  'Every failure is a `PaymentsError` with an outcome, and no rejection stays unhandled': [
    chaos,
    ['money/deadline.test.ts', 'a failed call leaves no timer and no unhandled rejection'],
  ],
  'A call ends within `totalTimeout`, and so does each page of a list, whatever hangs': [
    chaos,
    [
      'money/deadline.test.ts',
      'the option totalTimeout covers all attempts of a call and the waits between the attempts',
    ],
  ],
  'Nothing is sent after `totalTimeout`, nor after the caller has aborted': [
    [
      'money/deadline.test.ts',
      'nothing is sent after totalTimeout, even if the machine was suspended and the timer of totalTimeout has not fired',
    ],
    [
      'money/rate-limiter.test.ts',
      'is not sent if the machine was suspended until after the deadline of the call',
    ],
    [
      'full/proxy.test.ts',
      'a creation that timed out before the proxy accepted CONNECT is not sent afterwards',
    ],
  ],
  "Bun and Deno do not repeat a write without the SDK's knowledge": [
    [
      'full/sealing.test.ts',
      'on %s, a write arrives once and has the outcome unknown if the connection dies after the platform has made the change',
    ],
  ],
  'The response to one payment is never returned to another, even if a server leaves bytes on a connection or sends a response twice':
    [
      ['full/idle.test.ts', 'a creation survives a connection that %s'],
      ['full/surplus.test.ts', 'no payment takes a response that came twice: %s'],
    ],
  'On a connection that was used before, `get` rejects the record of another id, and a creation with the id of an earlier one is `unknown`':
    [
      [
        'money/stray-responses.test.ts',
        'get() of the id %s_1 rejects another id on a used connection',
      ],
      [
        'money/stray-responses.test.ts',
        'a creation ends as unknown if a used connection gives the id %s_1 again',
      ],
    ],
  'On Node.js nothing below the SDK sends a write again': [
    ['transports/node-http.test.ts', 'a write is unknown after a reset of a %s connection'],
  ],
  'No redirect is followed, and its target receives no request': [chaos],
  '`Retry-After` is honoured by the call that received it and, up to a minute, by the other calls of the client':
    [
      ['money/backoff.test.ts', 'the wait between attempts is never shorter than Retry-After'],
      [
        'money/rate-limiter.test.ts',
        'the rate limiter releases no call during the pause after a 429, and every call ends',
      ],
    ],
  'Behind a rate limiter, a client reaches at least half of the rate, with fewer than two requests per call':
    [
      [
        'money/rate-limiter.test.ts',
        'the limiter reaches half of %d requests a second with %d workers',
      ],
      [
        'proxies/proxies.test.ts',
        'behind limit_req of nginx, at 20 requests a second without burst, a client makes ten payments a second with few rejected requests',
      ],
    ],
  'A call that would be held back for longer than it may wait fails at once, with the data of the 429':
    [
      [
        'money/rate-limiter.test.ts',
        'ends at once as a RateLimitError if its deadline is too short',
      ],
    ],
  '`rejected` comes from the platform itself, or proves that nothing was forwarded': [
    ['money/outcome.test.ts', 'ends as unknown unless the status proves a rejection'],
    [
      'proxies/proxies.test.ts',
      'createOnce pays once even if the response to the payment is replaced by %s',
    ],
  ],
  'A pause of the process is not a timeout': [
    [
      'money/deadline.test.ts',
      'a response that arrived while the process was suspended is read before its deadline is checked',
    ],
    [
      'proxies/proxies.test.ts',
      'a process of %s that was suspended reads the responses that have arrived before it reports a timeout',
    ],
  ],
  'A write does not use a connection that a server may be closing because it was idle': [
    [
      'proxies/proxies.test.ts',
      'no payment has the outcome unknown even if the server closes each connection that was idle for a second',
    ],
  ],
  'A budget bounds the retries of a client, so that retries cannot cause an outage': [
    [
      'money/backoff.test.ts',
      'the retry budget of a client limits the retries of 200 calls that fail at the same time',
    ],
  ],
  'After a 401 a call is sent once more with a new token, which is fetched once for all waiting calls':
    [
      [
        'client/credentials.test.ts',
        'fifty concurrent 401 responses cause a single call of the credential function for a new token',
      ],
      ['client/credentials.test.ts', 'a call sends no third request after a second 401'],
    ],
  'A credential function that hangs or fails causes a typed error, and nothing is sent': [
    [
      'client/credentials.test.ts',
      'error.cause is a copy of the error that a credential function rejected with',
    ],
    [
      'client/credentials.test.ts',
      'if a credential function did not return during one call, the next call calls the function again',
    ],
    [
      'client/credentials.test.ts',
      'if a credential function does not return, the client calls the function again only after the timeout of one attempt',
    ],
  ],
  'With `platform.idempotencyHeader`, every attempt of a call carries the same key': [
    chaos,
    [
      'money/idempotency.test.ts',
      'a creation with an idempotency key is resent with the same key after an unknown outcome',
    ],
  ],
  'No error, hook or log shows a credential, not even one that the platform repeats': [
    chaos,
    ['errors/errors.test.ts', 'an error holds no request, response, credential or object of ky'],
    [
      'secrets/responses.test.ts',
      'no error shows a secret that a response contains in %s, however the secret is encoded',
    ],
  ],
  'An endless, highly compressed or deeply nested response uses no more memory than the limit': [
    [
      'full/plan.test.ts',
      'reads of highly compressed and endless responses use less than 200 MB of memory',
    ],
  ],
  'A list ends when a cursor repeats, when the same page comes many times, or when only empty pages come':
    [
      ['lists/scripts.test.ts', 'random lists over $way yield exactly what the platform sent'],
      [
        'lists/cursor.test.ts',
        'a list ends after a thousand empty pages in an error that has a cursor to resume from',
      ],
      [
        'lists/cursor.test.ts',
        'a list ends in an error if the platform sends the same page again and again, each time with a new cursor',
      ],
    ],
  "No listener stays on a caller's signal": [
    [
      'money/deadline.test.ts',
      'no listener stays on the signal of the caller after hundreds of calls, whether the calls succeed or fail',
    ],
    [
      'money/rate-limiter.test.ts',
      'the rate limiter releases no call during the pause after a 429, and every call ends',
    ],
  ],
};
