import { checks, type Check, type Result, type Suggestion, type Verdict } from './checks.ts';
import { Evidence, type ReadTls } from './evidence.ts';
import { checkAccounts, makePayment, type Payment, type PaymentOrder } from './payment.ts';
import { Platform, ProbeEnded, type ProbeClock } from './platform.ts';
import type { PaymentsClient } from '../../index.ts';

/** Fields that `--json` prints; with `--compare` it adds `changes`. */
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

/** A report, and what only people read. */
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
  /** The transfer to make; the operator has confirmed it. */
  readonly order?: PaymentOrder | undefined;
  /** Is called before the first byte of a payment is sent, with what finds its transfer. */
  readonly onPaying?: ((search: string) => void) | undefined;
}

/** The payment and the watch for it may take so many. */
const requestsOfPayment = 80;

/**
 * Makes all checks.
 * @throws ProbeEnded when the platform does not respond or rejects the credential
 */
export async function runProbe(options: ProbeOptions): Promise<Probed> {
  const { payments, clock, readTls, hasJwt, order, onPaying = () => {} } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const platform = new Platform(payments, clock);
  const seen = new Evidence(platform, readTls);
  const verdicts = new Map<Check, Verdict>();
  const decide = async (
    needs: Check['needs'],
    run: (check: Check) => Verdict | Promise<Verdict>,
  ) => {
    for (const check of checks) if (check.needs === needs) verdicts.set(check, await run(check));
  };
  if (order !== undefined) await checkAccounts(platform, order);
  // First, so that a rejected JWT ends the probe before a minute has passed.
  await decide('jwt', (check) => {
    if (check.needs !== 'jwt') return notTried;
    return hasJwt ? check.decide(seen) : unknownVerdict('Not tried: needs PAYMENTS_JWT.');
  });
  await decide('reads', (check) => (check.needs === 'reads' ? check.decide(seen) : notTried));
  if ((await seen.lists()).every(({ listing }) => listing.readings[0]?.problem !== undefined)) {
    const [first] = platform.readings;
    throw new ProbeEnded(
      `No list of the platform can be read: GET ${first?.path} is ${first?.problem}.\nCheck PAYMENTS_BASE_URL (${platform.baseUrl}).`,
    );
  }
  const payment = await payOrder(platform, order, onPaying);
  const decidePaid = (check: Check): Verdict | Promise<Verdict> => {
    if (check.needs !== 'pay' && check.needs !== 'pay_twice') return notTried;
    const isTwice = check.needs === 'pay_twice';
    if (order === undefined || (isTwice && !order.twice)) {
      const flag = isTwice ? '--pay-twice' : '--pay';
      return unknownVerdict(`Not tried: needs ${flag}.`);
    }
    return payment === undefined
      ? unknownVerdict('Not tried: too few of 200 requests were left.')
      : check.decide(payment);
  };
  await decide('pay', decidePaid);
  await decide('pay_twice', decidePaid);
  return createReport(verdicts, {
    platform: platform.baseUrl,
    startedAt,
    requests: platform.requests,
  });
}

const unknownVerdict = (fact: string): Verdict => ({ result: 'unknown', fact });
const notTried = unknownVerdict('Not tried.');

async function payOrder(
  platform: Platform,
  order: PaymentOrder | undefined,
  onPaying: (search: string) => void,
): Promise<Payment | undefined> {
  if (order === undefined || !platform.hasLeft(requestsOfPayment)) return undefined;
  return makePayment(platform, order, onPaying);
}

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
