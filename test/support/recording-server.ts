import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ReceivedResponse, SentRequest } from './clients.ts';

/** A local server that records its requests and responds with `reply`. */
export async function recordingServer(reply: ReceivedResponse): Promise<{
  readonly origin: string;
  readonly requests: SentRequest[];
  close(): Promise<void>;
}> {
  const requests: SentRequest[] = [];
  const server = createServer((incoming, outgoing) => {
    void textOf(incoming).then(async (body) => {
      const { method = '', url: path = '' } = incoming;
      const url = `http://${incoming.headers.host}${path}`;
      const headers: Record<string, string> = {};
      for (const [name, value] of Object.entries(incoming.headers)) headers[name] = String(value);
      requests.push({ method, url, headers, body });
      const carriesBody = body !== '' && method !== 'GET';
      const request = new Request(url, { method, headers, ...(carriesBody ? { body } : {}) });
      const response = await reply(request, body);
      outgoing.writeHead(response.status, Object.fromEntries(response.headers));
      outgoing.end(await response.text());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
