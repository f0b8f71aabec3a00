/** One of them plays random plans, and holds what the SDK says of each call against the ledger. */
const chaos = [
  'full/chaos.test.ts',
  '300 random plans have an outcome that agrees with the ledger for each call',
] as const;

/**
 * The promises of docs/reliability.md, and the tests that hold them: file and name. `%s` and `$…` stand
 * for the rows of a table.
 */
export const promises: Readonly<
  Record<string, readonly (readonly [file: string, name: string])[]>
> = {
  'A write takes effect once at most, however often its connection breaks': [
    chaos,
    [
      'full/sealing.test.ts',
      'a write arrives once and is unknown when its reused connection dies after the effect',
    ],
  ],
  'A call that resolves has taken effect once, and hands out the id of exactly that': [chaos],
  '`not_sent` means that the platform has not read a byte of it': [
    chaos,
    ['full/tls.test.ts', '%s in the handshake is not_sent, and retried if it may be temporary'],
    [
      'full/proxy.test.ts',
      'a proxy that $name after CONNECT proves that nothing was sent, warm $isWarm',
    ],
  ],
  '`rejected` means that it did not take effect': [chaos],
  'What is not proven either way is `unknown`, and a creation that is unknown does not call itself `retryable`':
    [
      ['full/plan.test.ts', 'a creation that meets: %s'],
      ['money/outcome.test.ts', 'one cause that is not on the list among others proves nothing'],
      [
        'money/resend.test.ts',
        'status $status to a $kind has the outcome and the repeats of the table',
      ],
    ],
  'A creation whose outcome is unknown is not sent again, whatever happened before': [
    [
      'money/resend.test.ts',
      'an unknown attempt ends the tries of a creation, although the one before was harmless',
    ],
  ],
  '`createOnce` makes a payment once at most, and whoever keeps calling ends with it or with a refusal':
    [
      ['money/once-states.test.ts', 'whatever happens to them, callers make one payment: %o'],
      ['full/once-states.test.ts', 'callers make one payment in every order of their steps: %o'],
      [
        'full/once-deaths.test.ts',
        'killed and suspended workers pay each of 100 payouts once over %s',
      ],
    ],
  '`createOnce` sends nothing before its claim is on disk, nor after the claim has it that nothing leaves':
    [
      ['money/once.test.ts', 'the claim is written before anything is sent, and says when it ends'],
      ['money/once.test.ts', 'what the claim took is time that the request no longer has'],
      ['money/journals.test.ts', 'the database reports that a claim is on disk before it answers'],
    ],
  'It takes a claim over only when that request can no longer arrive, and a look has not found it':
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
  'What may be the payment and is not certain to be is for a person': [
    ['money/once.test.ts', 'what may be the payment is for a person, and named'],
  ],
  'A journal that fails keeps the payment from being sent, and never fails one that was accepted': [
    ['money/once.test.ts', '%s: nothing is sent, and an earlier call may have paid'],
    [
      'money/once.test.ts',
      'a journal that fails once the platform has accepted does not fail the call',
    ],
  ],
  'Every failure is a `PaymentsError` with an outcome; nothing is left for the process to catch': [
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
  'Nothing is sent after `totalTimeout`, nor after its caller has left': [
    [
      'money/deadline.test.ts',
      'nothing is sent after totalTimeout, although no timer has fired yet',
    ],
    ['money/rate-limiter.test.ts', 'is not sent by a machine that slept past its deadline'],
    [
      'full/proxy.test.ts',
      'a request that timed out before CONNECT succeeded is not sent afterwards',
    ],
  ],
  "Bun and Deno do not send a write again behind the SDK's back": [
    ['full/sealing.test.ts', 'a write arrives once and is unknown on %s'],
  ],
  'The answer to one call is never taken for that of another, also when a server leaves bytes on a connection':
    [['full/idle.test.ts', 'a creation on a connection that %s gets the right response']],
  "On Node's dispatcher, HTTP/2 and interceptors included, a write that somebody else begins again is held back":
    [
      [
        'transports/dispatcher.test.ts',
        'a write that is about to be sent again behind our back is held back',
      ],
    ],
  'No redirect is followed: its target hears nothing': [chaos],
  '`Retry-After` is never undercut by the call that was told, nor, up to a minute, by others of the same client':
    [
      ['money/backoff.test.ts', 'Retry-After is never undercut, whatever the random numbers are'],
      [
        'money/rate-limiter.test.ts',
        'whatever calls come to, none is let out in a pause, and every one comes to an end',
      ],
    ],
  'Behind a limiter, at least half of its rate gets through, with less than two requests for each':
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
  'A call that is held back for longer than it may wait is told so at once, with the facts of the 429':
    [['money/rate-limiter.test.ts', 'ends at once as a RateLimitError if its time is too short']],
  "`rejected` is the platform's own word, or proves that nothing was forwarded": [
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
  'A write does not gamble on an idle connection': [
    [
      'proxies/proxies.test.ts',
      'payments around the moment when a server closes idle connections are not left in doubt',
    ],
  ],
  'Retries of one client are bounded by a budget, so that trying again cannot become the outage': [
    [
      'money/backoff.test.ts',
      'the budget keeps callers who fail together from trying three times each',
    ],
  ],
  'A 401 is answered with a new token once, fetched once for all who wait': [
    [
      'client/credentials.test.ts',
      'fifty refusals at once: one call of the function, fifty replays',
    ],
    ['client/credentials.test.ts', 'a second 401 is not followed by a third request'],
  ],
  'A function for a credential that hangs or fails is a typed error, and nothing was sent': [
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
  'An endless, bomb-like or bottomless answer costs no more memory than its limit': [
    [
      'full/plan.test.ts',
      'highly compressed and endless responses use no more memory than the limit',
    ],
  ],
  'A list comes to an end when a cursor comes again, the same page again and again, or nothing but empty pages':
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
