import { checks } from './checks.ts';
import type { Check } from './checks/check.ts';
import { unknown, type Result, type Suggestion, type Verdict } from './checks/verdict.ts';
import { Evidence } from './evidence.ts';
import { checkAccounts, makePayment, type PaymentOrder } from './payment.ts';
import { PlatformReader, ProbeEnded, type ProbeClock } from './platform-reader.ts';
import type { PaymentsClient } from '../../index.ts';

/** The report that `--json` prints. */
interface Report {
  /** The base URL of the platform. */
  readonly platform: string;
  readonly startedAt: string;
  readonly requests: number;
  readonly rows: readonly ReportRow[];
  /** The client options that the probe suggests. */
  readonly options: { readonly platform: Readonly<Record<string, string | boolean>> };
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
  /** The transfer to make. Present only after the operator has confirmed. */
  readonly order?: PaymentOrder | undefined;
  /** Called before the first byte of a payment is sent. `search` says how to find the transfer. */
  readonly onPaying?: ((search: string) => void) | undefined;
}

/**
 * Runs all checks of the probe against a platform. Makes the payment of `order` only after the
 * checks that read, and only if the list of transfers can be read.
 * @throws ProbeEnded if the platform does not respond or rejects the credential
 */
export async function runProbe(options: ProbeOptions): Promise<Probed> {
  const { payments, clock, order, onPaying = () => {} } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const platform = new PlatformReader(payments, clock);
  const seen = new Evidence(platform);
  if (order !== undefined) await checkAccounts(platform, order);
  const [first] = (await seen.transfers()).readings;
  if (first?.problem !== undefined) {
    throw new ProbeEnded(
      `The list of transfers cannot be read: GET /transfers is ${first.problem}.\nCheck PAYMENTS_BASE_URL (${platform.baseUrl}) and the rights of the key.`,
    );
  }
  const verdicts = new Map<Check, Verdict>();
  for (const check of checks) {
    if (check.needs === 'reads') verdicts.set(check, await check.decide(seen));
  }
  const payment = order === undefined ? undefined : await makePayment(platform, order, onPaying);
  for (const check of checks) {
    if (check.needs === 'reads') continue;
    const flag = check.needs === 'pay_twice' ? '--pay-twice' : '--pay';
    const isTried = payment !== undefined && (flag === '--pay' || order?.twice === true);
    const notTried = unknown(`Not tried: needs ${flag}.`);
    verdicts.set(check, isTried ? await check.decide(payment) : notTried);
  }
  const { baseUrl, requests } = platform;
  return createReport(verdicts, { platform: baseUrl, startedAt, requests });
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
      rows: all.map(({ row, question, result, seen }) => ({ row, question, result, seen })),
      options: {
        platform: Object.fromEntries(suggestions.map(({ name, value }) => [name, value])),
      },
    },
    suggestions,
    advice: all.flatMap(({ row, advice }) => (advice === undefined ? [] : [{ row, text: advice }])),
  };
}
