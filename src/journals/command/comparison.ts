import { defaultCurrency, findUnlikeFields } from '../../resources/transfers/compare-transfer.ts';
import type { OnceInput, Transfer } from '../../schemas/transfer.ts';
import { clean } from './report.ts';

/** A transfer that may be the payment, or why it could not be read. */
export type Candidate =
  | { readonly id: string; readonly transfer: Transfer }
  | { readonly id: string; readonly problem: string };

/** More candidates do not fit beside each other on a terminal. */
const maxColumns = 3;
const cellWidth = 24;

/** The terms of a payment and of the transfers that may be it, side by side. */
export function formatComparison(input: OnceInput, candidates: readonly Candidate[]): string {
  const tables: string[] = [];
  for (let start = 0; start === 0 || start < candidates.length; start += maxColumns) {
    tables.push(formatColumns(input, candidates.slice(start, start + maxColumns)));
  }
  const isMarked = tables.some((table) => table.includes('* '));
  return `${tables.join('\n')}${isMarked ? '* differs from the payment\n' : ''}`;
}

function formatColumns(input: OnceInput, candidates: readonly Candidate[]): string {
  const destination =
    input.counterpartyId === undefined ? 'destinationAccountId' : 'counterpartyId';
  const terms = ['description', 'amount', 'currency', 'sourceAccountId', destination] as const;
  const payment = { ...input, currency: input.currency ?? defaultCurrency };
  const rows = [
    ['', 'payment', ...candidates.map(({ id }) => `  ${id}`)],
    ...terms.map((name) => [
      name,
      describeCell(payment[name]),
      ...candidates.map((candidate) => formatTerm(candidate, input, name)),
    ]),
    ...(['status', 'createdAt'] as const).map((name) => [
      name,
      '',
      ...candidates.map((each) => ('transfer' in each ? `  ${each.transfer[name]}` : '')),
    ]),
  ];
  const rowsToPrint = candidates.length === 0 ? rows.filter(([, cell]) => cell !== '') : rows;
  const problems = candidates.flatMap((each) =>
    'problem' in each ? [`${each.id} could not be read: ${each.problem}\n`] : [],
  );
  return [...rowsToPrint.map(formatRow), ...problems.map(clean)].join('');
}

function formatTerm(
  candidate: Candidate,
  input: OnceInput,
  name:
    | 'description'
    | 'amount'
    | 'currency'
    | 'sourceAccountId'
    | 'destinationAccountId'
    | 'counterpartyId',
): string {
  if (!('transfer' in candidate)) return '';
  const { transfer } = candidate;
  const mark = findUnlikeFields(transfer, input).has(name) ? '* ' : '  ';
  return `${mark}${describeCell(transfer[name])}`;
}

const describeCell = (value: unknown): string =>
  typeof value === 'string' && value !== '' ? value : '(none)';

/** A row of a table; a long cell continues on the next lines. */
function formatRow(cells: readonly string[]): string {
  const wrapped = cells.map((cell) => wrap(clean(cell)));
  const height = Math.max(...wrapped.map(({ length }) => length));
  const lines = Array.from({ length: height }, (_, line) =>
    wrapped
      .map((parts) => (parts[line] ?? '').padEnd(cellWidth))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function wrap(cell: string): string[] {
  const [mark, text] = /^[* ] /.test(cell) ? [cell.slice(0, 2), cell.slice(2)] : ['', cell];
  const width = cellWidth - mark.length;
  const parts: string[] = [];
  for (let rest = text; rest !== '' || parts.length === 0;) {
    const space = rest.length > width ? rest.lastIndexOf(' ', width) : -1;
    const end = space > 0 ? space : width;
    parts.push(`${parts.length === 0 ? mark : ' '.repeat(mark.length)}${rest.slice(0, end)}`);
    rest = rest.slice(end).trimStart();
  }
  return parts;
}
