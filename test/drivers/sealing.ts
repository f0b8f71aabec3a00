import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PaymentsClient } from '../../src/index.ts';
import { accountId } from './bodies.ts';
import { usual } from './faults.ts';
import { applyVariant, variants } from './mutants.ts';
import type { Sdk } from './play.ts';
import { FaultPlatform, nonceHeader, type Exchange } from './server.ts';

/*
 * Bun and Deno silently repeat a request when a reused connection is dead. Here reused connections
 * die after a write took effect. The write has to arrive once, with the outcome unknown.
 * Runs on every runtime: node test/drivers/sealing.ts
 */

/** How a connection dies after the effect. */
const deaths: Readonly<Record<string, (exchange: Exchange) => void>> = {
  FIN: (exchange) => {
    exchange.sendFin();
  },
  RST: (exchange) => {
    exchange.sendRst();
  },
  'FIN after half of a head': (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
    exchange.sendFin();
  },
  'the server stops': (exchange) => {
    exchange.endpoint.close();
  },
};

const writes = {
  POST: (client, headers) =>
    client.transfers.create(
      { sourceAccountId: accountId, destinationAccountId: 'acc_2', amount: '1.00' },
      { headers },
    ),
  PATCH: (client, headers) => client.accounts.update(accountId, { name: 'New' }, { headers }),
  DELETE: (client, headers) => client.counterparties.delete('cpty_1', { headers }),
} satisfies Record<
  string,
  (client: PaymentsClient, headers: Record<string, string>) => Promise<unknown>
>;

export interface Sealed {
  readonly method: string;
  readonly death: string;
  /** How many times the write arrived. */
  readonly arrivals: number;
  readonly effects: number;
  /** Whether the write used a connection that had carried another request. */
  readonly reused: boolean;
  /** The outcome that the caller received. */
  readonly outcome: string;
}

export const isSentOnce = ({ arrivals, effects, outcome }: Sealed): boolean =>
  arrivals === 1 && effects === 1 && outcome === 'unknown';

/** Sends every write over every kind of dying connection. */
export async function writeOverDyingConnections(sdk: Sdk): Promise<Sealed[]> {
  const results: Sealed[] = [];
  for (const [method, write] of Object.entries(writes)) {
    for (const [death, breakConnection] of Object.entries(deaths)) {
      const platform = new FaultPlatform(usual);
      await platform.start();
      const client = new sdk.PaymentsClient({
        baseUrl: platform.shared.baseUrl,
        apiKey: 'sk_sealing',
        // Long, for a busy machine. No call here waits until its timeout.
        timeout: 5_000,
      });
      // Uses three connections, so that every pooled connection is a reused one.
      await Promise.all(
        ['a', 'b', 'c'].map((name) =>
          client.transfers.get(`txfr_${name}`, { headers: { [nonceHeader]: `read ${name}` } }),
        ),
      );
      // On Node writes have separate connections.
      await Promise.all(
        ['a', 'b', 'c'].map((name) => write(client, { [nonceHeader]: `warm ${name}` })),
      );
      // On Node a write uses a connection only after a time without bytes.
      await new Promise((resolve) => setTimeout(resolve, 150));
      const nonce = 'sealed';
      let reused = false;
      const step = {
        play: (exchange: Exchange): void => {
          reused ||= exchange.isReused;
          exchange.commit();
          breakConnection(exchange);
        },
      };
      platform.plan(nonce, [step, step, step]);
      const outcome = await write(client, { [nonceHeader]: nonce }).then(
        () => 'ok',
        (error: unknown) => (error instanceof sdk.PaymentsError ? error.outcome : String(error)),
      );
      // A repeated request may arrive after the error.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const effects = platform.idsOf(nonce).length;
      results.push({
        method,
        death,
        arrivals: platform.arrivalsOf(nonce),
        effects,
        reused,
        outcome,
      });
      platform.stop();
    }
  }
  return results;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { mutant: { type: 'string' } } });
  const variant = variants.find(({ name }) => name === values.mutant);
  if (values.mutant !== undefined && variant === undefined) throw new Error('no such mutant');
  const sdk = (await import(variant ? applyVariant(variant) : '../../src/index.ts')) as Sdk;
  const results = await writeOverDyingConnections(sdk);
  for (const result of results) {
    const { method, death, arrivals, effects, reused, outcome } = result;
    const summary = `${arrivals} arrivals, ${effects} effects, ${reused ? 'reused' : 'fresh'} connection, ${outcome}`;
    console.log(`${isSentOnce(result) ? 'right' : 'WRONG'} ${method}, ${death}: ${summary}`);
  }
  process.exit(results.every(isSentOnce) ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
