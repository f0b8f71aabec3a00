import { defaultCurrency, findUnlikeFields, isFilled } from '../../search/compare.ts';
import type { JournalEntry } from '../../journals/journal.ts';
import type { Transfer } from '../../schemas/transfer.ts';
import { clean, wrap } from '../table.ts';

/** A transfer that may be the open payment, or the reason why that transfer could not be read. */
export interface Candidate {
  readonly id: string;
  readonly transfer?: Transfer;
  readonly problem?: string;
  /** Whether the platform itself says that it has no such transfer. */
  readonly isMissing?: boolean;
}

interface Column {
  readonly title: string;
  readonly cells: Readonly<Record<string, unknown>>;
  readonly unlike: readonly string[];
}

const cellWidth = 24;
/** Number of transfers in one table, so that the table stays within 100 characters. */
const candidatesPerTable = 2;

/**
 * Formats the payment's terms beside those of each candidate, in several tables if there are many.
 * The candidates that could not be read are below.
 */
export function formatTerms(
  input: JournalEntry['input'],
  candidates: readonly Candidate[],
): string {
  const isExternal = input.counterpartyId !== undefined;
  const destination = isExternal ? 'counterpartyId' : 'destinationAccountId';
  const otherDestination = isExternal ? 'destinationAccountId' : 'counterpartyId';
  const payment: Column = {
    title: 'payment',
    // A paid payment may have no terms left.
    cells:
      input.amount === undefined
        ? { ...input }
        : { ...input, currency: input.currency ?? defaultCurrency },
    unlike: [],
  };
  const columns = candidates.flatMap(({ id, transfer }): Column[] => {
    if (transfer === undefined) return [];
    const destinations = [
      ...(isFilled(transfer[destination]) ? [transfer[destination]] : []),
      // Also shows the other kind of destination, because otherwise the transfer would seem to have none.
      ...(isFilled(transfer[otherDestination])
        ? [`${otherDestination}: ${transfer[otherDestination]}`]
        : []),
    ];
    const cells = { ...transfer, [destination]: destinations.join(' ') };
    // A difference of any destination is marked in the row that shows the destinations.
    const fields = input.amount === undefined ? [] : findUnlikeFields(transfer, input);
    const unlike = fields.map((field) => (field === 'destinationAccountId' ? destination : field));
    return [{ title: id, cells, unlike }];
  });
  const terms = ['description', 'amount', 'currency', 'sourceAccountId', destination];
  const rowNames = [...terms, 'status', 'createdAt'];
  const tables: string[] = [];
  for (let at = 0; at < columns.length; at += candidatesPerTable) {
    const tableColumns = [payment, ...columns.slice(at, at + candidatesPerTable)];
    const header = formatRow(
      '',
      tableColumns.map(({ title }) => ({ text: title, isUnlike: false })),
    );
    const rows = rowNames.map((name) =>
      formatRow(
        name,
        tableColumns.map(({ cells, unlike }) => ({
          text: isFilled(cells[name]) ? String(cells[name]) : '-',
          isUnlike: unlike.includes(name),
        })),
      ),
    );
    tables.push([header, ...rows].join(''));
  }
  const legend = columns.some(({ unlike }) => unlike.length > 0)
    ? '\n* differs from the payment\n'
    : '';
  const problems = candidates
    .filter(({ transfer }) => transfer === undefined)
    .map(
      ({ id, problem = '' }) =>
        `\n${clean(id)} could not be read: ${problem.split('\n').map(clean).join('\n')}\n`,
    );
  return `${tables.join('\n')}${legend}${problems.join('')}`.replace(/^\n/, '');
}

interface Cell {
  readonly text: string;
  readonly isUnlike: boolean;
}

/** Formats one row of the table of terms. A long cell continues in the next lines. */
function formatRow(name: string, cells: readonly Cell[]): string {
  const wrapped = cells.map(({ text }) => wrap(clean(text), cellWidth));
  const height = Math.max(...wrapped.map(({ length }) => length));
  let text = '';
  for (let line = 0; line < height; line += 1) {
    const parts = cells.map(({ isUnlike }, column) => {
      const mark = isUnlike && line === 0 ? '* ' : '  ';
      return mark + (wrapped[column]?.[line] ?? '').padEnd(cellWidth + 1);
    });
    text += `${((line === 0 ? name : '').padEnd(20) + parts.join('')).trimEnd()}\n`;
  }
  return text;
}
