/*
 * The server, in a separate process. It responds to each SDK at the path and in the envelope of that
 * SDK, with the same records. Responses are precomputed except for one id, so that the contender limits
 * the speed.
 */
import { createServer } from 'node:http';
import { idOf, items, one, perPage } from './data.mjs';

let setting = { total: 20_000, delay: 0 };

const oneBytes = Buffer.from(one);
const idAt = oneBytes.indexOf('txfr_');
let created = 0;

/** The record with a new id, because the SDK takes an id that comes twice for a stray response. */
function createOne() {
  const bytes = Buffer.from(oneBytes);
  created += 1;
  bytes.latin1Write(idOf(created), idAt);
  return bytes;
}

const itemBytes = Buffer.from(items);
const lastIdAt = itemBytes.lastIndexOf('txfr_');

/** Page n of the list, between the two halves of an envelope. */
function page(n, before, after) {
  const bytes = Buffer.allocUnsafe(before.length + itemBytes.length + after.length);
  bytes.latin1Write(before, 0);
  itemBytes.copy(bytes, before.length);
  bytes.latin1Write(idOf(n), before.length + lastIdAt);
  bytes.latin1Write(after, before.length + itemBytes.length);
  return bytes;
}

/** How each API refers to its next page; `n` is the current page. */
const envelopes = {
  '/v0/transfers': (n, more) => ({
    body: page(n, '{"data":', `,"hasMore":${more},"nextCursor":${more ? `"c${n}"` : 'null'}}`),
  }),
  '/v1/transfers': (n, more) => ({
    body: page(n, `{"object":"list","url":"/v1/transfers","has_more":${more},"data":`, '}'),
  }),
  '/modern-treasury/api/counterparties': (n, more) => ({
    body: page(n, '', ''),
    headers: { 'x-per-page': String(perPage), ...(more ? { 'x-after-cursor': `c${n}` } : {}) },
  }),
  '/polar/v1/discounts/': (n) => ({
    body: page(
      n,
      '{"items":',
      `,"pagination":{"total_count":${setting.total},"max_page":${setting.total / perPage}}}`,
    ),
  }),
};

const json = 'application/json';

function send(response, body, headers) {
  response.writeHead(200, { 'content-type': json, 'content-length': body.length, ...headers });
  response.end(body);
}

const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
  if (request.method === 'POST') {
    request.resume();
    request.on('end', () => {
      send(response, createOne());
    });
    return;
  }
  const [path, query = ''] = request.url.split('?');
  const envelope = envelopes[path];
  if (envelope === undefined) {
    send(response, oneBytes);
    return;
  }
  const pageNumber = /(?:^|&)page=(\d+)/.exec(query);
  const after = /(?:^|&)(?:cursor|starting_after|after_cursor)=\D*(\d+)/.exec(query);
  // A cursor is the number of its page.
  let n = after === null ? 0 : Number(after[1]) + 1;
  if (pageNumber !== null) n = Number(pageNumber[1]) - 1;
  const { body, headers } = envelope(n, (n + 1) * perPage < setting.total);
  if (setting.delay === 0) send(response, body, headers);
  else setTimeout(send, setting.delay, response, body, headers);
});

process.on('message', (message) => {
  setting = { ...setting, ...message };
  process.send('set');
});
process.on('disconnect', () => process.exit());

server.listen(0, '127.0.0.1', () => {
  process.send({ port: server.address().port });
});
