import type { SimilarPayment } from '../calls/call.ts';
import { journalKey } from '../internal/formats.ts';
import { termsOf } from '../internal/terms.ts';
import type { TransferCreateInput } from '../schemas/transfer.ts';
import type { JournalContext } from './context.ts';
import { isReadable } from './guarded-journal.ts';

const maxAgeMs = 2_592_000_000; // 30 days
const maxPayments = 100;

/**
 * Returns a function that finds payments of the journal with an input's terms, except the payment
 * with this reference. Undefined if the journal cannot find them.
 */
export function createSimilarFinder(
  { journal, baseUrl: platform }: Pick<JournalContext, 'journal' | 'baseUrl'>,
  reference = '',
): ((input: TransferCreateInput) => Promise<SimilarPayment[]>) | undefined {
  const find = journal?.similar?.bind(journal);
  if (journal === undefined || find === undefined) return undefined;
  const key = journalKey(reference);
  return async (input) => {
    const now = await journal.now(key);
    // Without this check, a comparison with NaN would find nothing, as if nothing had been paid.
    if (!Number.isFinite(now)) throw new Error('now returned a value that this SDK cannot read');
    const rows = await find({ platform, input }, now - maxAgeMs);
    // Leaving out an unreadable entry could hide a similar payment.
    if (!rows.every(isReadable)) throw new Error('similar listed an entry that cannot be read');
    const terms = termsOf(platform, input);
    return rows
      .filter(
        ({ reference: found, entry }) =>
          found !== key &&
          entry.state !== 'not_paid' &&
          entry.input.amount !== undefined &&
          termsOf(entry.platform, entry.input) === terms,
      )
      .slice(0, maxPayments)
      .map(({ entry, claimedAt }) => ({
        reference: entry.input.description,
        state: entry.state as SimilarPayment['state'],
        at: new Date(claimedAt).toISOString(),
        ...(entry.state === 'paid' && { transferId: entry.transferId }),
      }));
  };
}
