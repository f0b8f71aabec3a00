/** One of them plays random plans, and holds what the SDK says of each call against the ledger. */
const chaos = [
  'full/chaos.test.ts',
  '300 random plans, and the SDK tells the truth about each call',
] as const;

/**
 * The promises of docs/errors.md, and the tests that hold them: file and name. `%s` and `$…` stand
 * for the rows of a table.
 */
export const promises: Readonly<
  Record<string, readonly (readonly [file: string, name: string])[]>
> = {
  'A write takes effect once at most, however often its connection breaks': [
    chaos,
    [
      'full/sealing.test.ts',
      'a write whose used connection dies after it was acted on arrives once, and is unknown',
    ],
  ],
  'A call that resolves has taken effect once, and returns the id of that effect': [chaos],
  '`not_sent` means that the platform has not read a byte of the request': [
    chaos,
    ['full/tls.test.ts', '%s in the handshake is not_sent, and sent again if it may pass'],
    [
      'full/proxy.test.ts',
      'a proxy that $name when asked for the way, warm $isWarm: nothing was sent, and the wire knows',
    ],
  ],
  '`rejected` means that the request did not take effect': [chaos],
  'An outcome that is not proven is `unknown`, and a creation with that outcome is not `retryable`':
    [
      ['full/plan.test.ts', 'a creation that meets: %s'],
      ['money/outcome.test.ts', 'one cause that is not on the list among others proves nothing'],
      [
        'money/resend.test.ts',
        'status $status to a $kind has the outcome and the repeats of the table',
      ],
    ],
  'A creation with an unknown outcome is not sent again, whatever happened before': [
    [
      'money/resend.test.ts',
      'an unknown attempt ends the tries of a creation, although the one before was harmless',
    ],
  ],
  '`createOnce` makes a payment at most once, and a caller that repeats the call gets the transfer or a rejection':
    [
      ['money/once-states.test.ts', 'whatever happens to them, callers make one payment: %o'],
      ['full/once-states.test.ts', 'whatever happens to them, callers make one payment: %o'],
      [
        'full/once-deaths.test.ts',
        'workers that are killed and frozen pay each of 100 once, over %s',
      ],
    ],
  '`createOnce` sends nothing before its claim is on disk, and nothing after the deadline that the claim implies':
    [
      ['money/once.test.ts', 'the claim is written before anything is sent, and says when it ends'],
      ['money/once.test.ts', 'what the claim took is time that the request no longer has'],
      ['money/journals.test.ts', 'the database reports that a claim is on disk before it answers'],
    ],
  '`createOnce` takes over a claim only when the earlier request can no longer arrive, and a search has not found the payment':
    [
      [
        'money/once.test.ts',
        'a claim of somebody who died is taken over when its request can no longer arrive',
      ],
      [
        'money/once.test.ts',
        'the time is taken before the look, in which a transfer may still appear',
      ],
    ],
  'An operator decides about a transfer that may be the payment': [
    ['money/once.test.ts', 'what may be the payment is for a person, and named'],
  ],
  'A journal that fails prevents the payment from being sent, and never fails an accepted one': [
    ['money/once.test.ts', '%s: nothing is sent, and an earlier call may have paid'],
    [
      'money/once.test.ts',
      'a journal that fails once the platform has accepted does not fail the call',
    ],
  ],
  'Every failure is a `PaymentsError` with an outcome, and no rejection stays unhandled': [
    chaos,
    [
      'money/deadline.test.ts',
      'whatever happens, no timer stays and no rejection is left unhandled',
    ],
  ],
  'A call ends within `totalTimeout`, and so does each page of a list, whatever hangs': [
    chaos,
    ['money/deadline.test.ts', 'totalTimeout covers attempts and the waits between them'],
  ],
  'Nothing is sent after `totalTimeout`, nor after the caller has aborted': [
    [
      'money/deadline.test.ts',
      'nothing is sent after totalTimeout, although no timer has fired yet',
    ],
    ['money/rate-limiter.test.ts', 'is not sent by a machine that slept past its deadline'],
    [
      'full/proxy.test.ts',
      'what was given up before there was a way is not sent when there is one',
    ],
  ],
  "Bun and Deno do not repeat a write without the SDK's knowledge": [
    ['full/sealing.test.ts', 'the same on %s'],
  ],
  'The response to one call is never returned to another, even if a server leaves bytes on a connection':
    [['full/idle.test.ts', 'a creation on a connection that %s gets its own answer']],
  "On Node's dispatcher, also with HTTP/2 and interceptors, a write that other code starts again is stopped":
    [
      [
        'transports/dispatcher.test.ts',
        'a write that is about to be sent again behind our back is held back',
      ],
    ],
  'No redirect is followed, and its target receives no request': [chaos],
  '`Retry-After` is honoured by the call that received it and, up to a minute, by the other calls of the client':
    [
      ['money/backoff.test.ts', 'Retry-After is never undercut, whatever the random numbers are'],
      [
        'money/rate-limiter.test.ts',
        'whatever calls come to, none is let out in a pause, and every one comes to an end',
      ],
    ],
  'Behind a rate limiter, a client reaches at least half of the rate, with fewer than two requests per call':
    [
      [
        'money/rate-limiter.test.ts',
        'behind a limiter of %d a second, %d workers get half of it, with little in vain',
      ],
      [
        'proxies/proxies.test.ts',
        'behind limit_req 20 a second without burst, ten a second get through with little in vain',
      ],
    ],
  'A call that would be held back for longer than it may wait fails at once, with the data of the 429':
    [['money/rate-limiter.test.ts', 'ends at once as a RateLimitError if its time is too short']],
  '`rejected` comes from the platform itself, or proves that nothing was forwarded': [
    ['money/outcome.test.ts', 'leaves the payment unknown unless the status proves a rejection'],
    [
      'proxies/proxies.test.ts',
      'a payment whose response is replaced by %s is unknown, and createOnce pays it once',
    ],
  ],
  'A pause of the process is not a timeout': [
    [
      'money/deadline.test.ts',
      'an answer that came while the process stood still is read before its deadline is checkBy',
    ],
    [
      'proxies/proxies.test.ts',
      'a process of %s that stood still reads the answers before it calls them overdue',
    ],
  ],
  'A write does not use a connection that a server may be closing because it was idle': [
    [
      'proxies/proxies.test.ts',
      'payments around the moment when a server closes idle connections are not left in doubt',
    ],
  ],
  'A budget bounds the retries of a client, so that retries cannot cause an outage': [
    [
      'money/backoff.test.ts',
      'the budget keeps callers who fail together from trying three times each',
    ],
  ],
  'After a 401 a call is sent once more with a new token, which is fetched once for all waiting calls':
    [
      [
        'client/credentials.test.ts',
        'fifty refusals at once: one call of the function, fifty replays',
      ],
      ['client/credentials.test.ts', 'a second 401 is not followed by a third request'],
    ],
  'A credential function that hangs or fails causes a typed error, and nothing is sent': [
    [
      'client/credentials.test.ts',
      'what the function failed with is the cause of the error, as a copy',
    ],
    ['client/credentials.test.ts', 'a function that hung once is asked again by the next call'],
    [
      'client/credentials.test.ts',
      'a function that hung is asked again as soon as it had the time of one attempt',
    ],
  ],
  'With `idempotencyHeader`, every attempt of a call carries the same key': [
    chaos,
    [
      'money/idempotency.test.ts',
      'with a key a creation is sent again after an unknown outcome, always with the same key',
    ],
  ],
  'No error, hook or log shows a credential, not even one that the platform repeats': [
    chaos,
    [
      'errors/errors.test.ts',
      'an error holds no request, no response, no credential, and nothing of ky',
    ],
    [
      'secrets/responses.test.ts',
      'no error shows a secret of this place of an answer, however it is spelled: %s',
    ],
  ],
  'An endless, highly compressed or deeply nested response uses no more memory than the limit': [
    [
      'full/plan.test.ts',
      'a bomb and a stream without end cost no more memory than the limit of an answer',
    ],
  ],
  'A list ends when a cursor repeats, when the same page comes many times, or when only empty pages come':
    [
      [
        'lists/scripts.test.ts',
        'whatever pages come over $way, a loop ends and has seen the truth so far',
      ],
      [
        'lists/cursor.test.ts',
        'empty pages without end are asked for a thousand times, and the way on is told',
      ],
      ['lists/cursor.test.ts', 'a page that comes for ever under new cursors is found out'],
    ],
  "No listener stays on a caller's signal": [
    ['money/deadline.test.ts', 'no listener stays on the caller’s signal'],
    [
      'money/rate-limiter.test.ts',
      'whatever calls come to, none is let out in a pause, and every one comes to an end',
    ],
  ],
};
