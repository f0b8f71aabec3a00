import { Sandbox, type SandboxOptions } from 'payments-platform-sdk/sandbox';
import { PaymentsClient } from 'payments-platform-sdk';
import { runProbe, type Probed } from '../../src/commands/probe/run.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

/** A platform behind a sandbox: it passes requests on, changes them or the responses. */
export type Deviation = (
  request: Request,
  next: (changedRequest?: Request) => Promise<Response>,
  clock: VirtualClock,
) => Response | Promise<Response>;

interface SetupOptions extends SandboxOptions {
  readonly deviation?: Deviation | undefined;
  readonly transfers?: number | undefined;
  /** The time between two transfers. */
  readonly gapMs?: number | undefined;
}

const minute = 60_000;
const apiKey = 'sk_probe_canary_4f1b';

/** A sandbox with records of two entities, a client of it, and a clock that both follow. */
export function setup({
  deviation,
  transfers = 120,
  gapMs = minute,
  ...options
}: SetupOptions = {}) {
  const clock = new VirtualClock(Date.UTC(2026, 0, 15));
  const sandbox = new Sandbox({ clock, apiKey, autoAdvance: 1_000, ...options });
  for (const email of ['first@example.com', 'second@example.com']) {
    const { id: entityId } = sandbox.entities.create({ email });
    sandbox.entities.approve(entityId);
    for (const name of ['Operating', 'Savings']) {
      const { id: accountId } = sandbox.accounts.create({ entityId, name });
      sandbox.accounts.fund(accountId, '1000');
    }
  }
  for (let number = 0; number < transfers; number += 1) {
    sandbox.transfers.create({
      sourceAccountId: `acc_00000${1 + (number % 3)}`,
      destinationAccountId: 'acc_000004',
      amount: '0.50',
      description: `invoice ${number}`,
    });
    clock.jump(gapMs);
  }
  const requests: { method: string; url: URL; at: number }[] = [];
  const handle = async (request: Request): Promise<Response> => {
    const { method, url } = request;
    requests.push({ method, url: new URL(url), at: clock.now() });
    const send = async (changedRequest = request): Promise<Response> => {
      const response = await sandbox.fetch(changedRequest);
      return withHeaders(response, { date: new Date(clock.now()).toUTCString() });
    };
    return deviation === undefined ? send() : deviation(request, send, clock);
  };
  const payments = new PaymentsClient({
    baseUrl: 'https://api.example.com/v0',
    apiKey,
    jwt: null,
    maxRetries: 0,
    clock,
    fetch: handle,
  });
  const probeClock = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    // The sandbox advances transfers by timers, and the gap between two requests needs none.
    wait: async (ms: number) => {
      if (ms >= 1_000) await clock.advance(ms);
      else clock.jump(ms);
    },
  };
  const probe = (order?: { twice?: boolean }): Promise<Probed> =>
    runProbe({
      payments,
      clock: probeClock,
      order:
        order === undefined
          ? undefined
          : { amount: '0.01', from: 'acc_000001', to: 'acc_000002', twice: order.twice ?? false },
    });
  const writes = () => requests.filter(({ method }) => method !== 'GET');
  return { clock, probeClock, sandbox, payments, requests, writes, probe };
}

/** Each row as its number, question, result and the first sentence of what was seen. */
export const factsOf = ({ report }: Probed): Record<string, string> =>
  Object.fromEntries(
    report.rows.map(({ row, question, result, seen }) => [
      `${row} ${question}`,
      `${result}: ${seen.split(/(?<=\.) /)[0]}`,
    ]),
  );

export const withHeaders = (response: Response, headers: Record<string, string>): Response =>
  new Response(response.body, {
    status: response.status,
    headers: { ...Object.fromEntries(response.headers), ...headers },
  });

/** Changes the JSON of a response. */
export async function withJson(
  response: Response,
  change: (body: Record<string, unknown>) => unknown,
): Promise<Response> {
  const text = await response.text();
  if (text === '') return response;
  const { status, headers } = response;
  const body = change(JSON.parse(text) as Record<string, unknown>);
  return new Response(JSON.stringify(body), { status, headers });
}

/** Changes each record of a response: those of a list, or the only one. */
export const withRecords = (
  response: Response,
  change: (record: Record<string, unknown>) => unknown,
): Promise<Response> =>
  withJson(response, (body) => {
    if (Array.isArray(body['data'])) return { ...body, data: body['data'].map(change) };
    return 'id' in body ? change(body) : body;
  });

export const pathOf = ({ url }: Request): string => new URL(url).pathname;
export const isList = ({ method, url }: Request): boolean =>
  method === 'GET' && /^\/v0\/\w+$/.test(new URL(url).pathname);
