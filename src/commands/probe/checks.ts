import type { Check } from './checks/check.ts';
import { clockChecks } from './checks/clock.ts';
import { connectionChecks } from './checks/connection.ts';
import { listChecks } from './checks/lists.ts';
import { paymentChecks } from './checks/payments.ts';

/** Every question of the probe to a platform, in the order of docs/gaps.md and of the report. */
export const checks: readonly Check[] = [
  ...listChecks,
  ...clockChecks,
  ...connectionChecks,
  ...paymentChecks,
].toSorted((one, other) => one.row - other.row);
