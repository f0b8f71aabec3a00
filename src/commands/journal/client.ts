import { fieldOf, isError } from '../../internal/thrown.ts';
import type { PaymentsClient } from '../../client.ts';
import type { PaymentInDoubtError, ValidationError } from '../../errors/errors.ts';
import type { FullJournal } from '../../journals/journal.ts';
import { fingerprint, readVariable, UsageError } from '../program.ts';
import type { Candidate } from './terms.ts';
import { formatWhen } from './words.ts';

export type Client = InstanceType<typeof PaymentsClient>;

const candidateTimeoutMs = 10_000;

/** Loads the client, a separate file of the build, only when a command needs the client. */
const loadClient = () => import('../../index.ts');

/** Creates a client that needs no platform, because it reads only the journal. */
export async function createReader(journal: FullJournal): Promise<Client> {
  const { PaymentsClient } = await loadClient();
  const noPlatform = { baseUrl: 'https://localhost/v0', apiKey: 'sk_none', jwt: null };
  return new PaymentsClient({ ...noPlatform, journal });
}

/** Creates the client from environment variables, or returns an error that says what is missing. */
export async function createClient(
  journal: FullJournal,
  transfersFilter?: string | false,
): Promise<Client | Error> {
  const { ConfigurationError, PaymentsClient } = await loadClient();
  const missing = missingVariables();
  if (missing.length > 0) return new UsageError(`Set ${missing.join(' and ')}.`);
  try {
    return new PaymentsClient({ journal, platform: { transfersFilter } });
  } catch (cause) {
    if (cause instanceof ConfigurationError) return new UsageError(cause.message, { cause });
    throw cause;
  }
}

/** Creates the client of a command. Throws a UsageError if its variables are missing. */
export async function requireClient(
  command: string,
  journal: FullJournal,
  transfersFilter: string | false | undefined,
): Promise<Client> {
  const payments = await createClient(journal, transfersFilter);
  if (!isError(payments)) return payments;
  throw new UsageError(`${command} asks the platform. ${payments.message}`);
}

const missingVariables = (): string[] =>
  ['PAYMENTS_BASE_URL', 'PAYMENTS_API_KEY'].filter((name) => readVariable(name) === '');

/** The platform that the operator asks, and what identifies the key without showing it. */
export function describeClient(payments: Client | Error): string {
  if (isError(payments)) return `none, so no transfer was read. ${firstLine(payments)}`;
  return `${payments.toJSON().baseUrl}, key ${fingerprint(readVariable('PAYMENTS_API_KEY'))}`;
}

export async function readCandidate(payments: Client, id: string): Promise<Candidate> {
  try {
    const options = { totalTimeout: candidateTimeoutMs };
    return { id, transfer: await payments.transfers.get(id, options) };
  } catch (cause) {
    const { NotFoundError } = await loadClient();
    // A proxy may have sent a 404 without a code.
    const isMissing = cause instanceof NotFoundError && cause.code !== undefined;
    return { id, problem: firstLine(cause), isMissing };
  }
}

/** What happened, without the lines that speak to a programmer. */
export const firstLine = (failure: unknown): string =>
  isError(failure) ? (failure.message.split('\n', 1)[0] ?? '') : String(failure);

/** Describes a failure of a command to an operator. */
export function explain(failure: unknown): string {
  const { reason, until, retryAfterMs, issues, outcome } = Object(failure) as Partial<
    PaymentInDoubtError & Pick<ValidationError, 'issues'>
  >;
  if (until !== undefined && retryAfterMs !== undefined) {
    const end = Date.parse(until);
    return `Too early: a request may still take effect until ${formatWhen(end, end - retryAfterMs)}. Run this command again then.`;
  }
  if (issues !== undefined) {
    return issues.map(({ path, message }) => `${path}: ${message}`).join('\n');
  }
  // An error about a payment in doubt is shown whole, because all its lines help the operator to decide.
  if (outcome !== undefined && reason !== undefined) return messageOf(failure);
  const describe = outcome === undefined ? messageOf : firstLine;
  const { cause } = Object(failure) as Error;
  return describe(failure) + (isError(cause) ? `\nThe cause: ${describe(cause)}` : '');
}

/** An error's message. If all addresses of a host fail, Node has messages only in inner errors. */
function messageOf(failure: unknown): string {
  const errors = fieldOf(failure, 'errors');
  if (Array.isArray(errors)) return errors.map(messageOf).join('; ');
  return isError(failure) ? failure.message : String(failure);
}
