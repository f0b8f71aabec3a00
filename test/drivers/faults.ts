import { gzipSync } from 'node:zlib';
import { errorBody, page, poison } from './bodies.ts';
import type { Exchange, Play, Step } from './server.ts';

/** How a creation ends after one fault, if every later request succeeds. */
type OnceEnds = 'ok' | 'resent' | 'unknown' | 'rejected' | 'not_sent';
/** How a read ends, where `fails` is a typed error after one request. */
type ReadEnds = 'ok' | 'resent' | 'fails';

/** One fault of an exchange, and the result that the SDK must report on Node. */
export interface Fault extends Step {
  readonly name: string;
  readonly once: OnceEnds;
  readonly read: ReadEnds;
  /**
   * The fault needs a separate port, because connections fail there or, with `separate`, because
   * the server stops.
   */
  readonly endpoint?: 'closed' | 'fin' | 'rst' | 'separate' | undefined;
  /** For how many milliseconds a 429 forbids the client to send requests. */
  readonly holds?: number | undefined;
  /** Responds with 2xx although nothing took effect. A DELETE cannot detect that. */
  readonly lies?: true | undefined;
  /** Slow to play, so random plans draw this fault less often. */
  readonly heavy?: true | undefined;
}

type Extras = Pick<Fault, 'at' | 'endpoint' | 'lies' | 'heavy' | 'holds'>;

const row = (
  name: string,
  once: OnceEnds,
  read: ReadEnds,
  play: Play,
  extras: Extras = {},
): Fault => ({ name, once, read, play, ...extras });

/** A fault with and without an effect. The SDK sees equal bytes, and must not guess. */
const withAndWithoutEffect = (
  name: string,
  once: OnceEnds,
  read: ReadEnds,
  play: Play,
): Fault[] => [
  row(`${name}, acted on`, once, read, (exchange) => {
    exchange.commit();
    play(exchange);
  }),
  row(`${name}, not acted on`, once, read, play),
];

/** A fault of the response to a request that took effect. */
const withEffect = (
  name: string,
  once: OnceEnds,
  read: ReadEnds,
  play: Play,
  extras: Extras = {},
): Fault =>
  row(
    name,
    once,
    read,
    (exchange) => {
      exchange.commit();
      play(exchange);
    },
    extras,
  );

const sendNothing: Play = () => undefined;
const html = 'content-type: text/html';
const json = 'content-type: application/json';

const sendSuccess: Play = (exchange) => {
  if (exchange.method === 'DELETE') {
    exchange.sendHead(204);
    exchange.finish();
  } else {
    // A search with transfersNewestFirst or since needs Date to compare the clocks.
    exchange.reply(200, exchange.buildSuccess(), `date: ${new Date().toUTCString()}`);
  }
};

/** The response to a request without a fault. */
export const usual: Fault = withEffect('successful response', 'ok', 'ok', sendSuccess);

/** Sends part of a success, then breaks the connection. */
const sendPartOfSuccess =
  (headers: (size: number) => readonly string[], then: Play): Play =>
  (exchange) => {
    const body = exchange.buildSuccess();
    exchange.sendHead(200, json, ...headers(body.length));
    exchange.send(body.slice(0, -10));
    then(exchange);
  };

const withLength = (size: number): string[] => [`content-length: ${size}`];
const sendFin: Play = (exchange) => {
  exchange.sendFin();
};
const sendRst: Play = (exchange) => {
  exchange.sendRst();
};
const sendRstLater: Play = (exchange) => {
  exchange.schedule(5, () => {
    exchange.sendRst();
  });
};

const connections: Fault[] = [
  row('connection refused', 'resent', 'resent', sendNothing, { endpoint: 'closed' }),
  row('FIN on accept', 'unknown', 'resent', sendNothing, { endpoint: 'fin' }),
  row('RST on accept', 'unknown', 'resent', sendNothing, { endpoint: 'rst' }),
  withEffect(
    'acted on, then the server dies',
    'unknown',
    'resent',
    (exchange) => {
      exchange.endpoint.close();
    },
    { endpoint: 'separate' },
  ),
  ...withAndWithoutEffect('FIN after the request', 'unknown', 'resent', sendFin),
  ...withAndWithoutEffect('RST after the request', 'unknown', 'resent', sendRst),
  row('FIN after the head of the request', 'unknown', 'resent', sendFin, { at: 'head' }),
  row('RST after the head of the request', 'unknown', 'resent', sendRst, { at: 'head' }),
  ...withAndWithoutEffect('no response at all', 'unknown', 'resent', sendNothing),
  row('no response, acted on much later', 'unknown', 'resent', (exchange) => {
    exchange.commitLater(120);
  }),
  ...withAndWithoutEffect(
    'half of the response head, then FIN',
    'unknown',
    'resent',
    (exchange) => {
      exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
      exchange.sendFin();
    },
  ),
  ...withAndWithoutEffect(
    'half of the response head, then RST',
    'unknown',
    'resent',
    (exchange) => {
      exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
      sendRstLater(exchange);
    },
  ),
  ...withAndWithoutEffect(
    'half of the response head, then nothing',
    'unknown',
    'resent',
    (exchange) => {
      exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
    },
  ),
];

const cutBodies: Fault[] = [
  withEffect('200, body stalls', 'unknown', 'resent', sendPartOfSuccess(withLength, sendNothing)),
  withEffect('200, body ends short', 'unknown', 'resent', sendPartOfSuccess(withLength, sendFin)),
  withEffect(
    '200, RST within the body',
    'unknown',
    'resent',
    sendPartOfSuccess(withLength, sendRstLater),
  ),
  withEffect('200, chunked body cut', 'unknown', 'resent', (exchange) => {
    const body = exchange.buildSuccess();
    exchange.sendHead(200, json, 'transfer-encoding: chunked');
    exchange.send(`${body.length.toString(16)}\r\n${body.slice(0, 20)}`);
    exchange.sendFin();
  }),
  withEffect('200, chunked body without its end', 'unknown', 'resent', (exchange) => {
    exchange.sendHead(200, json, 'transfer-encoding: chunked');
    exchange.send(`5\r\n{"id"\r\n`);
    exchange.sendFin();
  }),
  withEffect('200, chunk size that is no number', 'unknown', 'resent', (exchange) => {
    exchange.sendHead(200, json, 'transfer-encoding: chunked');
    exchange.send('zz\r\n{}\r\n0\r\n\r\n');
  }),
  withEffect(
    '200 that ends with the connection, cut',
    'unknown',
    'resent',
    sendPartOfSuccess(() => [], sendFin),
  ),
  row('422, body cut', 'rejected', 'fails', (exchange) => {
    exchange.sendHead(422, json, 'content-length: 500');
    exchange.send(errorBody);
    exchange.sendFin();
  }),
  row('400, body stalls', 'rejected', 'fails', (exchange) => {
    exchange.sendHead(400, json, 'content-length: 500');
    exchange.send(errorBody);
  }),
  ...withAndWithoutEffect('502, body cut', 'unknown', 'resent', (exchange) => {
    exchange.sendHead(502, html, 'content-length: 5000');
    exchange.send(page);
    sendRstLater(exchange);
  }),
  row('429, body cut', 'resent', 'resent', (exchange) => {
    exchange.sendHead(429, json, 'content-length: 500');
    exchange.send('{"err');
    exchange.sendFin();
  }),
];

const brokenHttp: Fault[] = [
  withEffect('two lengths that differ', 'unknown', 'resent', (exchange) => {
    exchange.sendHead(200, json, 'content-length: 20', 'content-length: 21');
    exchange.send(exchange.buildSuccess());
    exchange.sendFin();
  }),
  withEffect('a length and chunks', 'unknown', 'resent', (exchange) => {
    const body = exchange.buildSuccess();
    exchange.sendHead(200, json, `content-length: ${body.length}`, 'transfer-encoding: chunked');
    exchange.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    exchange.sendFin();
  }),
  ...withAndWithoutEffect('a response that is not HTTP', 'unknown', 'resent', (exchange) => {
    exchange.send('BANANA split\r\n\r\n');
    exchange.sendFin();
  }),
  withEffect('a header of 200 KB', 'unknown', 'resent', (exchange) => {
    exchange.reply(200, exchange.buildSuccess(), `x-long: ${'a'.repeat(200_000)}`);
  }),
  withEffect('100, then 200', 'ok', 'ok', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n');
    exchange.reply(200, exchange.buildSuccess());
  }),
  ...withAndWithoutEffect('100, then FIN', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n');
    exchange.sendFin();
  }),
  ...withAndWithoutEffect('100 a thousand times, then FIN', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000));
    exchange.sendFin();
  }),
  withEffect('103, then 200', 'ok', 'ok', (exchange) => {
    exchange.send('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n');
    exchange.reply(200, exchange.buildSuccess());
  }),
  ...withAndWithoutEffect('unrequested 101', 'unknown', 'resent', (exchange) => {
    exchange.sendHead(101, 'connection: upgrade', 'upgrade: other');
  }),
  withEffect('HTTP/1.0', 'ok', 'ok', (exchange) => {
    exchange.send(`HTTP/1.0 200 OK\r\n${json}\r\n\r\n${exchange.buildSuccess()}`);
    exchange.sendFin();
  }),
  withEffect('a response in small pieces', 'ok', 'ok', (exchange) => {
    const body = exchange.buildSuccess();
    exchange.sendHead(200, json, `content-length: ${body.length}`);
    exchange.send(body.slice(0, 10));
    exchange.schedule(5, () => {
      exchange.send(body.slice(10, -5));
      exchange.schedule(5, () => {
        exchange.send(body.slice(-5));
        exchange.finish();
      });
    });
  }),
];

const oddBodies: Fault[] = [
  withEffect('200, not JSON', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '{id: "txfr_1"}');
  }),
  withEffect('200, HTML after the act', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, page, html);
  }),
  row(
    '200, HTML of a portal that did not forward it',
    'unknown',
    'fails',
    (exchange) => {
      exchange.reply(200, page, html);
    },
    { lies: true },
  ),
  withEffect('200, empty', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '');
  }),
  withEffect('204', 'unknown', 'fails', (exchange) => {
    exchange.sendHead(204);
    exchange.finish();
  }),
  ...['null', '[1]', '"txfr_1"', '{}', '{"id":7}'].map((body) =>
    withEffect(`200, ${body}`, 'unknown', 'fails', (exchange) => {
      exchange.reply(200, body);
    }),
  ),
  withEffect('200, an id of another kind', 'unknown', 'ok', (exchange) => {
    if (exchange.method === 'GET') sendSuccess(exchange);
    else exchange.reply(200, '{"id":"ent_1","status":"pending","type":"book"}');
  }),
  withEffect('200, compressed', 'ok', 'ok', (exchange) => {
    exchange.reply(200, gzipSync(exchange.buildSuccess()), 'content-encoding: gzip');
  }),
  withEffect('200, compressed and cut', 'unknown', 'resent', (exchange) => {
    const packed = gzipSync(exchange.buildSuccess());
    exchange.reply(200, packed.subarray(0, packed.length - 12), 'content-encoding: gzip');
  }),
  withEffect('200, invalid compressed body', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, 'this is not compressed', 'content-encoding: gzip');
  }),
  withEffect('200, unknown content coding', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, gzipSync(exchange.buildSuccess()), 'content-encoding: zebra');
  }),
  withEffect(
    '200, 64 MB in 64 KB',
    'unknown',
    'fails',
    (exchange) => {
      exchange.reply(200, compressedZeros(), 'content-encoding: gzip');
    },
    { heavy: true },
  ),
  withEffect('200 without end', 'unknown', 'fails', sendEndlessly(200), { heavy: true }),
  ...withAndWithoutEffect('500 without end', 'unknown', 'resent', sendEndlessly(500)).map(
    (fault): Fault => ({
      ...fault,
      heavy: true,
    }),
  ),
  withEffect('200, 100,000 levels deep', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '['.repeat(100_000) + ']'.repeat(100_000));
  }),
  withEffect('200, with __proto__', 'ok', 'ok', (exchange) => {
    exchange.reply(200, buildSuccessWith(exchange, '"__proto__":{"polluted":true}'));
  }),
  withEffect('200, bytes that are not UTF-8', 'unknown', 'fails', (exchange) => {
    const bytes = new TextEncoder().encode(buildSuccessWith(exchange, '"note":"#"'));
    bytes[bytes.indexOf(0x23)] = 0xff;
    exchange.reply(200, bytes);
  }),
  withEffect('200, with a byte order mark', 'ok', 'ok', (exchange) => {
    exchange.reply(200, `\uFEFF${exchange.buildSuccess()}`);
  }),
  withEffect('200, a key twice', 'ok', 'ok', (exchange) => {
    exchange.reply(200, buildSuccessWith(exchange, '"id":"txfr_first"'));
  }),
];

/** A success with one more member at its start. */
const buildSuccessWith = (exchange: Exchange, member: string): string =>
  exchange.buildSuccess().replace('{', `{${member},`);

let packedZeros: Uint8Array | undefined;
const compressedZeros = (): Uint8Array => (packedZeros ??= gzipSync(new Uint8Array(64 * 2 ** 20)));

/** Sends a body until the client stops reading. */
function sendEndlessly(status: number): Play {
  const piece = new Uint8Array(2 ** 20).fill(0x20);
  return (exchange) => {
    exchange.sendHead(status, json);
    const sendMore = (): void => {
      if (!exchange.isOpen) return;
      exchange.send(piece);
      exchange.schedule(1, sendMore);
    };
    sendMore();
  };
}

/** Bytes on a connection after a complete response, which belong to no request. */
const leftovers: Fault[] = [
  withEffect('200, another response right after it', 'ok', 'ok', (exchange) => {
    exchange.send(buildSuccessFollowedBy(exchange, `HTTP/1.1 200 OK\r\n${json}`, poison));
    exchange.finish();
  }),
  withEffect('200, an unexpected 408 right after it', 'ok', 'ok', (exchange) => {
    exchange.send(
      buildSuccessFollowedBy(exchange, 'HTTP/1.1 408 Request Timeout\r\nconnection: close', ''),
    );
    exchange.sendFin();
  }),
  withEffect('200, then FIN', 'ok', 'ok', (exchange) => {
    sendSuccess(exchange);
    exchange.schedule(2, () => {
      exchange.sendFin();
    });
  }),
  withEffect('200, then RST', 'ok', 'ok', (exchange) => {
    sendSuccess(exchange);
    exchange.schedule(2, () => {
      exchange.sendRst();
    });
  }),
];

function buildSuccessFollowedBy(exchange: Exchange, start: string, nextBody: string): string {
  const body = exchange.buildSuccess();
  return [
    `HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    `${start}\r\ncontent-length: ${nextBody.length}\r\n\r\n${nextBody}`,
  ].join('');
}

export const transportFaults: readonly Fault[] = [
  usual,
  ...connections,
  ...cutBodies,
  ...brokenHttp,
  ...oddBodies,
  ...leftovers,
];
export { withAndWithoutEffect, row };
