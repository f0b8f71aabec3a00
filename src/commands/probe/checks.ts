import type { Check } from './checks/check.ts';
import { connectionChecks } from './checks/connection.ts';
import { errorChecks } from './checks/errors.ts';
import { filterChecks } from './checks/filters.ts';
import { pageChecks } from './checks/pages.ts';
import { paymentChecks } from './checks/payments.ts';
import { recordChecks } from './checks/records.ts';
import { timeChecks } from './checks/times.ts';

/** Each question to a platform, by the row of docs/gaps.md that it is about; the report has the same order. */
export const checks: readonly Check[] = [
  ...filterChecks,
  ...recordChecks,
  ...pageChecks,
  ...timeChecks,
  ...errorChecks,
  ...connectionChecks,
  ...paymentChecks,
].toSorted((one, other) => one.row - other.row);
