import { checks } from './checks.ts';
import type { Check } from './checks/check.ts';
import { unknown, type Result, type Suggestion, type Verdict } from './checks/verdict.ts';
import { Evidence, type ReadTls } from './evidence.ts';
import { checkAccounts, makePayment, type Payment, type PaymentOrder } from './payment.ts';
import { Platform, ProbeEnded, type ProbeClock } from './platform.ts';
import type { PaymentsClient } from '../../index.ts';

/** The report that `--json` prints. `--compare` adds the field `changes`. */
export interface Report {
  readonly platform: string;
  readonly startedAt: string;
  readonly requests: number;
  readonly rows: readonly ReportRow[];
  readonly options: Readonly<Record<string, string | number | boolean>>;
}

export interface ReportRow {
  readonly row: number;
  readonly question: string;
  readonly result: Result;
  readonly seen: string;
}

/** The report of a run, and the texts that only the report for people shows. */
export interface Probed {
  readonly report: Report;
  readonly suggestions: readonly (Suggestion & { readonly row: number })[];
  readonly advice: readonly { readonly row: number; readonly text: string }[];
}

interface ProbeOptions {
  readonly payments: PaymentsClient;
  readonly clock: ProbeClock;
  readonly readTls: ReadTls;
  readonly hasJwt: boolean;
  /** The transfer to make. Present only after the operator has confirmed. */
  readonly order?: PaymentOrder | undefined;
  /** Called before the first byte of a payment is sent. `search` says how to find the transfer. */
  readonly onPaying?: ((search: string) => void) | undefined;
}

/** How many requests must be left before the probe makes a payment and watches the transfer. */
const requestsOfPayment = 80;

/**
 * Runs all checks of the probe against a platform. Makes the payment of `order` only after the
 * checks that read, and only if at least one list can be read.
 * @throws ProbeEnded if the platform does not respond or rejects the credential
 */
export async function runProbe(options: ProbeOptions): Promise<Probed> {
  const { payments, clock, readTls, hasJwt, order, onPaying = () => {} } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const platform = new Platform(payments, clock);
  const seen = new Evidence(platform, readTls);
  const verdicts = new Map<Check, Verdict>();
  if (order !== undefined) await checkAccounts(platform, order);
  // The checks with the JWT come first, because a rejected JWT ends the probe.
  for (const check of checks) {
    if (check.needs !== 'jwt') continue;
    const notTried = unknown('Not tried: needs PAYMENTS_JWT.');
    verdicts.set(check, hasJwt ? await check.decide(seen) : notTried);
  }
  for (const check of checks) {
    if (check.needs === 'reads') verdicts.set(check, await check.decide(seen));
  }
  if ((await seen.lists()).every(({ listing }) => listing.readings[0]?.problem !== undefined)) {
    const [first] = platform.readings;
    throw new ProbeEnded(
      `No list of the platform can be read: GET ${first?.path} is ${first?.problem}.\nCheck PAYMENTS_BASE_URL (${platform.baseUrl}).`,
    );
  }
  const payment = await payOrder(platform, order, onPaying);
  for (const check of checks) {
    if (check.needs === 'reads' || check.needs === 'jwt') continue;
    const isTwice = check.needs === 'pay_twice';
    if (order === undefined || (isTwice && !order.twice)) {
      verdicts.set(check, unknown(`Not tried: needs ${isTwice ? '--pay-twice' : '--pay'}.`));
    } else if (payment === undefined) {
      verdicts.set(check, unknown('Not tried: too few of 200 requests were left.'));
    } else verdicts.set(check, await check.decide(payment));
  }
  return createReport(verdicts, {
    platform: platform.baseUrl,
    startedAt,
    requests: platform.requests,
  });
}

async function payOrder(
  platform: Platform,
  order: PaymentOrder | undefined,
  onPaying: (search: string) => void,
): Promise<Payment | undefined> {
  if (order === undefined || !platform.hasLeft(requestsOfPayment)) return undefined;
  return makePayment(platform, order, onPaying);
}

/** Creates the report of the checks that were decided, in the order of the checks. */
function createReport(
  verdicts: ReadonlyMap<Check, Verdict>,
  facts: Pick<Report, 'platform' | 'startedAt' | 'requests'>,
): Probed {
  const all = checks.flatMap((check) => {
    const verdict = verdicts.get(check);
    return verdict === undefined ? [] : [{ ...check, ...verdict }];
  });
  const withdrawn = new Set(all.map(({ withdraws }) => withdraws));
  const suggestions = all.flatMap(({ row, option }) =>
    option === undefined || withdrawn.has(option.name) ? [] : [{ row, ...option }],
  );
  return {
    report: {
      ...facts,
      rows: all.map(({ row, question, result, fact, details }) => ({
        row,
        question,
        result,
        seen: details === undefined || details === '' ? fact : `${fact} ${details}`,
      })),
      options: Object.fromEntries(suggestions.map(({ name, value }) => [name, value])),
    },
    suggestions,
    advice: all.flatMap(({ row, advice }) => (advice === undefined ? [] : [{ row, text: advice }])),
  };
}
