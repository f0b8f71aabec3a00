import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/*
 * A platform behind a proxy that records which payments it has made. The first word in the
 * description of each transfer selects the response: `succeed`, `hang` after the payment, or
 * `reject-422` with an Error body.
 */

export interface Ledger {
  readonly port: number;
  /** The descriptions of all payments, in order. */
  readonly payments: readonly string[];
  /** The number of requests that have arrived. */
  readonly arrived: () => number;
  close(): void;
}

export interface LedgerOptions {
  /** Idle connections are closed after this time, in milliseconds. */
  readonly idle?: number;
  /** The time that a response takes, in milliseconds. */
  readonly delay?: number;
}

export async function startLedger({ idle, delay = 0 }: LedgerOptions = {}): Promise<Ledger> {
  const payments: string[] = [];
  const transfers: Readonly<Record<string, string>>[] = [];
  let arrived = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    arrived += 1;
    let text = '';
    for await (const chunk of request) text += String(chunk);
    if (request.method !== 'POST') {
      const existing = transfers.find(({ id = '' }) => request.url?.endsWith(`/${id}`));
      reply(response, 200, existing ?? { data: transfers, hasMore: false, nextCursor: null });
      return;
    }
    const input = JSON.parse(text) as { description: string };
    const { description } = input;
    const [manner = ''] = description.split(' ');
    if (manner.startsWith('reject-')) {
      reply(response, Number(manner.slice(7)), { error: 'No.', code: 'refused', details: null });
      return;
    }
    payments.push(description);
    const created = {
      id: `txfr_${payments.length}`,
      status: 'pending',
      type: 'wire',
      createdAt: new Date().toISOString(),
    };
    transfers.push({ ...input, ...created, direction: 'outgoing', currency: 'USDC' });
    if (manner === 'hang') return;
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    reply(response, 201, created);
  };
  const server = createServer((request, response) => {
    void handle(request, response);
  });
  // The timeout is set manually because Node announces its own in a header, which clients honour.
  server.keepAliveTimeout = 60_000;
  if (idle !== undefined) {
    server.on('connection', (socket) => {
      let timer: NodeJS.Timeout | undefined;
      socket.on('data', () => {
        clearTimeout(timer);
        timer = setTimeout(() => socket.end(), idle + delay);
      });
      socket.on('close', () => clearTimeout(timer));
    });
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    payments,
    arrived: () => arrived,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': text.length });
  response.end(text);
}
