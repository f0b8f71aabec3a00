import type { Check } from './checks/check.ts';
import { connectionChecks } from './checks/connection.ts';
import { errorChecks } from './checks/errors.ts';
import { filterChecks } from './checks/filters.ts';
import { pageChecks } from './checks/pages.ts';
import { paymentChecks } from './checks/payments.ts';
import { recordChecks } from './checks/records.ts';
import { timeChecks } from './checks/times.ts';

/** Every question of the probe to a platform, in the order of docs/gaps.md and of the report. */
export const checks: readonly Check[] = [
  ...filterChecks,
  ...recordChecks,
  ...pageChecks,
  ...timeChecks,
  ...errorChecks,
  ...connectionChecks,
  ...paymentChecks,
].toSorted((one, other) => one.row - other.row);
