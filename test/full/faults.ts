import { gzipSync } from 'node:zlib';
import { errorBody, page, poison } from './bodies.ts';
import type { Exchange, Play, Step } from './server.ts';

/** What becomes of a creation that meets a fault once and would be answered well after it. */
type OnceEnds = 'ok' | 'resent' | 'unknown' | 'rejected' | 'not_sent';
/** The same for a read; `fails` is a typed error after one request. */
type ReadEnds = 'ok' | 'resent' | 'fails';

/** One way in which an exchange can go, and what the SDK has to make of it on Node. */
export interface Fault extends Step {
  readonly name: string;
  readonly once: OnceEnds;
  readonly read: ReadEnds;
  /**
   * Needs a listening port of its own: because connections are not accepted in earnest, or (`own`)
   * because the server goes away.
   */
  readonly door?: 'refused' | 'fin' | 'rst' | 'own' | undefined;
  /** For a 429: how long the client may send nothing, in milliseconds. */
  readonly holds?: number | undefined;
  /** Says 2xx although nothing took effect: a DELETE has no way to see through it. */
  readonly lies?: true | undefined;
  /** Costs enough to be drawn more rarely. */
  readonly heavy?: true | undefined;
}

type Extras = Pick<Fault, 'at' | 'door' | 'lies' | 'heavy' | 'holds'>;

const row = (
  name: string,
  once: OnceEnds,
  read: ReadEnds,
  play: Play,
  extras: Extras = {},
): Fault => ({ name, once, read, play, ...extras });

/** The same on the wire, whether the platform acted or not: the SDK cannot tell, and must not guess. */
const either = (name: string, once: OnceEnds, read: ReadEnds, play: Play): Fault[] => [
  row(`${name}, acted on`, once, read, (exchange) => {
    exchange.commit();
    play(exchange);
  }),
  row(`${name}, not acted on`, once, read, play),
];

/** An answer that the platform gives after it has acted. */
const acted = (
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

const nothing: Play = () => undefined;
const html = 'content-type: text/html';
const json = 'content-type: application/json';

const respondWell: Play = (exchange) => {
  if (exchange.method === 'DELETE') {
    exchange.begin(204);
    exchange.over();
  } else {
    exchange.reply(200, exchange.success());
  }
};

/** What everything gets for which no fault is planned. */
export const usual: Fault = acted('answered well', 'ok', 'ok', respondWell);

/** Sends part of a success, then does something to the connection. */
const startedWell =
  (headers: (size: number) => readonly string[], then: Play): Play =>
  (exchange) => {
    const body = exchange.success();
    exchange.begin(200, json, ...headers(body.length));
    exchange.send(body.slice(0, -10));
    then(exchange);
  };

const withLength = (size: number): string[] => [`content-length: ${size}`];
const fin: Play = (exchange) => {
  exchange.fin();
};
const rst: Play = (exchange) => {
  exchange.rst();
};
const rstSoon: Play = (exchange) => {
  exchange.afterwards(5, () => {
    exchange.rst();
  });
};

const connections: Fault[] = [
  row('connection refused', 'resent', 'resent', nothing, { door: 'refused' }),
  row('FIN on accept', 'unknown', 'resent', nothing, { door: 'fin' }),
  row('RST on accept', 'unknown', 'resent', nothing, { door: 'rst' }),
  acted(
    'acted on, then the server dies',
    'unknown',
    'resent',
    (exchange) => {
      exchange.door.shut();
    },
    { door: 'own' },
  ),
  ...either('FIN after the request', 'unknown', 'resent', fin),
  ...either('RST after the request', 'unknown', 'resent', rst),
  row('FIN after the head of the request', 'unknown', 'resent', fin, { at: 'head' }),
  row('RST after the head of the request', 'unknown', 'resent', rst, { at: 'head' }),
  ...either('no answer at all', 'unknown', 'resent', nothing),
  row('no answer, acted on much later', 'unknown', 'resent', (exchange) => {
    exchange.commitLater(120);
  }),
  ...either('half of the answer’s head, then FIN', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
    exchange.fin();
  }),
  ...either('half of the answer’s head, then RST', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
    rstSoon(exchange);
  }),
  ...either('half of the answer’s head, then nothing', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
  }),
];

const cutBodies: Fault[] = [
  acted('200, body stalls', 'unknown', 'resent', startedWell(withLength, nothing)),
  acted('200, body ends short', 'unknown', 'resent', startedWell(withLength, fin)),
  acted('200, RST within the body', 'unknown', 'resent', startedWell(withLength, rstSoon)),
  acted('200, chunked body cut', 'unknown', 'resent', (exchange) => {
    const body = exchange.success();
    exchange.begin(200, json, 'transfer-encoding: chunked');
    exchange.send(`${body.length.toString(16)}\r\n${body.slice(0, 20)}`);
    exchange.fin();
  }),
  acted('200, chunked body without its end', 'unknown', 'resent', (exchange) => {
    exchange.begin(200, json, 'transfer-encoding: chunked');
    exchange.send(`5\r\n{"id"\r\n`);
    exchange.fin();
  }),
  acted('200, chunk size that is no number', 'unknown', 'resent', (exchange) => {
    exchange.begin(200, json, 'transfer-encoding: chunked');
    exchange.send('zz\r\n{}\r\n0\r\n\r\n');
  }),
  acted(
    '200 that ends with the connection, cut',
    'unknown',
    'resent',
    startedWell(() => [], fin),
  ),
  row('422, body cut', 'rejected', 'fails', (exchange) => {
    exchange.begin(422, json, 'content-length: 500');
    exchange.send(errorBody);
    exchange.fin();
  }),
  row('400, body stalls', 'rejected', 'fails', (exchange) => {
    exchange.begin(400, json, 'content-length: 500');
    exchange.send(errorBody);
  }),
  ...either('502, body cut', 'unknown', 'resent', (exchange) => {
    exchange.begin(502, html, 'content-length: 5000');
    exchange.send(page);
    rstSoon(exchange);
  }),
  row('429, body cut', 'resent', 'resent', (exchange) => {
    exchange.begin(429, json, 'content-length: 500');
    exchange.send('{"err');
    exchange.fin();
  }),
];

const brokenHttp: Fault[] = [
  acted('two lengths that differ', 'unknown', 'resent', (exchange) => {
    exchange.begin(200, json, 'content-length: 20', 'content-length: 21');
    exchange.send(exchange.success());
    exchange.fin();
  }),
  acted('a length and chunks', 'unknown', 'resent', (exchange) => {
    const body = exchange.success();
    exchange.begin(200, json, `content-length: ${body.length}`, 'transfer-encoding: chunked');
    exchange.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
    exchange.fin();
  }),
  ...either('an answer that is not HTTP', 'unknown', 'resent', (exchange) => {
    exchange.send('BANANA split\r\n\r\n');
    exchange.fin();
  }),
  acted('a header of 200 KB', 'unknown', 'resent', (exchange) => {
    exchange.reply(200, exchange.success(), `x-long: ${'a'.repeat(200_000)}`);
  }),
  acted('100, then 200', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n');
    exchange.reply(200, exchange.success());
  }),
  ...either('100, then FIN', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n');
    exchange.fin();
  }),
  ...either('100 a thousand times, then FIN', 'unknown', 'resent', (exchange) => {
    exchange.send('HTTP/1.1 100 Continue\r\n\r\n'.repeat(1_000));
    exchange.fin();
  }),
  acted('103, then 200', 'ok', 'ok', (exchange) => {
    exchange.send('HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n');
    exchange.reply(200, exchange.success());
  }),
  ...either('101 that nobody asked for', 'unknown', 'resent', (exchange) => {
    exchange.begin(101, 'connection: upgrade', 'upgrade: other');
  }),
  acted('HTTP/1.0', 'ok', 'ok', (exchange) => {
    exchange.send(`HTTP/1.0 200 OK\r\n${json}\r\n\r\n${exchange.success()}`);
    exchange.fin();
  }),
  acted('an answer in drops', 'ok', 'ok', (exchange) => {
    const body = exchange.success();
    exchange.begin(200, json, `content-length: ${body.length}`);
    exchange.send(body.slice(0, 10));
    exchange.afterwards(5, () => {
      exchange.send(body.slice(10, -5));
      exchange.afterwards(5, () => {
        exchange.send(body.slice(-5));
        exchange.over();
      });
    });
  }),
];

const oddBodies: Fault[] = [
  acted('200, not JSON', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '{id: "txfr_1"}');
  }),
  acted('200, HTML after the act', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, page, html);
  }),
  row(
    '200, HTML of a portal that never passed it on',
    'unknown',
    'fails',
    (exchange) => {
      exchange.reply(200, page, html);
    },
    { lies: true },
  ),
  acted('200, empty', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '');
  }),
  acted('204', 'unknown', 'fails', (exchange) => {
    exchange.begin(204);
    exchange.over();
  }),
  ...['null', '[1]', '"txfr_1"', '{}', '{"id":7}'].map((body) =>
    acted(`200, ${body}`, 'unknown', 'fails', (exchange) => {
      exchange.reply(200, body);
    }),
  ),
  acted('200, an id of another kind', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '{"id":"ent_1","status":"pending","type":"book"}');
  }),
  acted('200, packed well', 'ok', 'ok', (exchange) => {
    exchange.reply(200, gzipSync(exchange.success()), 'content-encoding: gzip');
  }),
  acted('200, packed and cut', 'unknown', 'resent', (exchange) => {
    const packed = gzipSync(exchange.success());
    exchange.reply(200, packed.subarray(0, packed.length - 12), 'content-encoding: gzip');
  }),
  acted('200, packed garbage', 'unknown', 'resent', (exchange) => {
    exchange.reply(200, 'this was never packed', 'content-encoding: gzip');
  }),
  acted('200, packed in a way that nobody knows', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, gzipSync(exchange.success()), 'content-encoding: zebra');
  }),
  acted(
    '200, 64 MB in 64 KB',
    'unknown',
    'fails',
    (exchange) => {
      exchange.reply(200, bomb(), 'content-encoding: gzip');
    },
    { heavy: true },
  ),
  acted('200 without end', 'unknown', 'fails', pour(200), { heavy: true }),
  ...either('500 without end', 'unknown', 'resent', pour(500)).map((each): Fault => ({
    ...each,
    heavy: true,
  })),
  acted('200, 100,000 levels deep', 'unknown', 'fails', (exchange) => {
    exchange.reply(200, '['.repeat(100_000) + ']'.repeat(100_000));
  }),
  acted('200, with __proto__', 'ok', 'ok', (exchange) => {
    exchange.reply(200, spiced(exchange, '"__proto__":{"polluted":true}'));
  }),
  acted('200, bytes that are not UTF-8', 'unknown', 'fails', (exchange) => {
    const bytes = new TextEncoder().encode(spiced(exchange, '"note":"#"'));
    bytes[bytes.indexOf(0x23)] = 0xff;
    exchange.reply(200, bytes);
  }),
  acted('200, with a byte order mark', 'ok', 'ok', (exchange) => {
    exchange.reply(200, `\uFEFF${exchange.success()}`);
  }),
  acted('200, a key twice', 'ok', 'ok', (exchange) => {
    exchange.reply(200, spiced(exchange, '"id":"txfr_first"'));
  }),
];

/** A success with something more at its start. */
const spiced = (exchange: Exchange, member: string): string =>
  exchange.success().replace('{', `{${member},`);

let packedZeros: Uint8Array | undefined;
const bomb = (): Uint8Array => (packedZeros ??= gzipSync(new Uint8Array(64 * 2 ** 20)));

/** Sends a body until nobody takes it any more. */
function pour(status: number): Play {
  const piece = new Uint8Array(2 ** 20).fill(0x20);
  return (exchange) => {
    exchange.begin(status, json);
    const more = (): void => {
      if (!exchange.open) return;
      exchange.send(piece);
      exchange.afterwards(1, more);
    };
    more();
  };
}

/** What is left on a connection after a good answer is not an answer to anybody. */
const leftovers: Fault[] = [
  acted('200, another answer right behind it', 'ok', 'ok', (exchange) => {
    exchange.send(followedBy(exchange, `HTTP/1.1 200 OK\r\n${json}`, poison));
    exchange.over();
  }),
  acted('200, a stray 408 right behind it', 'ok', 'ok', (exchange) => {
    exchange.send(followedBy(exchange, 'HTTP/1.1 408 Request Timeout\r\nconnection: close', ''));
    exchange.fin();
  }),
  acted('200, then FIN', 'ok', 'ok', (exchange) => {
    respondWell(exchange);
    exchange.afterwards(2, () => {
      exchange.fin();
    });
  }),
  acted('200, then RST', 'ok', 'ok', (exchange) => {
    respondWell(exchange);
    exchange.afterwards(2, () => {
      exchange.rst();
    });
  }),
];

function followedBy(exchange: Exchange, start: string, more: string): string {
  const body = exchange.success();
  return [
    `HTTP/1.1 200 OK\r\n${json}\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    `${start}\r\ncontent-length: ${more.length}\r\n\r\n${more}`,
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
export { either, row };
