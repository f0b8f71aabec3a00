import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { onTestFinished } from 'vitest';
import { listen, type RawServer, type Step } from './loopback.ts';
import { flushPromises } from './virtual-clock.ts';

/** A server of ./loopback.ts that is closed after the test. */
export async function rawServer(...steps: readonly Step[]): Promise<RawServer> {
  const server = await listen(...steps);
  onTestFinished(server.close);
  return server;
}

/** Resolves when this process has received the headers of a response over any transport. */
export function headersReceived(): Promise<void> {
  const channels = ['undici:request:headers', 'http.client.response.finish'];
  return new Promise((resolve) => {
    const listener = (): void => {
      for (const channel of channels) unsubscribe(channel, listener);
      // The body is read a few promises after the event.
      resolve(flushPromises());
    };
    for (const channel of channels) subscribe(channel, listener);
  });
}
