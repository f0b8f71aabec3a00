import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PaymentsClient } from '../../src/index.ts';
import { accountId } from './bodies.ts';
import { usual } from './faults.ts';
import { applyVariant, variants } from './mutants.ts';
import type { Sdk } from './play.ts';
import { FaultPlatform, nonceHeader, type Exchange } from './server.ts';

/*
 * Bun and Deno send a request again by themselves when a connection that they use once more turns
 * out dead, and say nothing of it. Here connections are used, then die after the server has acted on
 * a write: it has to arrive once and to be reported as unknown.
 * node test/full/sealing.ts, on every runtime.
 */

/** How a connection dies once the server has acted. */
const deaths: Readonly<Record<string, (exchange: Exchange) => void>> = {
  FIN: (exchange) => {
    exchange.fin();
  },
  RST: (exchange) => {
    exchange.rst();
  },
  'FIN after half of a head': (exchange) => {
    exchange.send('HTTP/1.1 200 OK\r\ncontent-ty');
    exchange.fin();
  },
  'the server stops': (exchange) => {
    exchange.door.shut();
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
  /** How often the write arrived, and took effect. */
  readonly arrivals: number;
  readonly effects: number;
  /** Whether it came over a connection that had been used before. */
  readonly reused: boolean;
  /** What the caller was told. */
  readonly outcome: string;
}

export const isRight = ({ arrivals, effects, outcome }: Sealed): boolean =>
  arrivals === 1 && effects === 1 && outcome === 'unknown';

/** Every write over every death. */
export async function sealing(sdk: Sdk): Promise<Sealed[]> {
  const seen: Sealed[] = [];
  for (const [method, write] of Object.entries(writes)) {
    for (const [death, die] of Object.entries(deaths)) {
      const platform = new FaultPlatform(usual);
      await platform.start();
      const client = new sdk.PaymentsClient({
        baseUrl: platform.shared.baseUrl,
        apiKey: 'sk_sealing',
        // Nothing here waits for an answer, so a machine under load may take its time.
        timeout: 5_000,
      });
      // Three connections, each of them used: whatever is in a pool is stale when the write comes.
      await Promise.all(
        ['a', 'b', 'c'].map((each) =>
          client.transfers.get(`txfr_${each}`, { headers: { [nonceHeader]: `read ${each}` } }),
        ),
      );
      // On Node writes have connections of their own.
      await Promise.all(
        ['a', 'b', 'c'].map((each) => write(client, { [nonceHeader]: `warm ${each}` })),
      );
      const nonce = 'sealed';
      let reused = false;
      const step = {
        play: (exchange: Exchange): void => {
          reused ||= exchange.reused;
          exchange.commit();
          die(exchange);
        },
      };
      platform.expect(nonce, [step, step, step]);
      const outcome = await write(client, { [nonceHeader]: nonce }).then(
        () => 'ok',
        (error: unknown) => (error instanceof sdk.PaymentsError ? error.outcome : String(error)),
      );
      // A replay may come after the error.
      await new Promise((resolve) => setTimeout(resolve, 100));
      const effects = platform.idsOf(nonce).length;
      seen.push({ method, death, arrivals: platform.arrivalsOf(nonce), effects, reused, outcome });
      platform.stop();
    }
  }
  return seen;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { mutant: { type: 'string' } } });
  const variant = variants.find(({ name }) => name === values.mutant);
  if (values.mutant !== undefined && variant === undefined) throw new Error('no such mutant');
  const sdk = (await import(variant ? applyVariant(variant) : '../../src/index.ts')) as Sdk;
  const seen = await sealing(sdk);
  for (const each of seen) {
    const { method, death, arrivals, effects, reused, outcome } = each;
    const told = `${arrivals} arrivals, ${effects} effects, ${reused ? 'reused' : 'fresh'} connection, ${outcome}`;
    console.log(`${isRight(each) ? 'right' : 'WRONG'} ${method}, ${death}: ${told}`);
  }
  process.exit(seen.every(isRight) ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
