import * as z from 'zod/mini';
import { asSchema, type Schema } from '../schemas/primitives.ts';
import { parseJson, stringifyJson } from '../internal/json.ts';
import { lazy } from '../internal/objects.ts';
import { getMessage } from './platform/sandbox-error.ts';
import {
  stateReport,
  checkReferences,
  platformStateShape,
  versionSchema,
} from './platform/state.ts';
import type { SandboxRecords } from './platform/records.ts';
import { parseInput, validationError } from './platform/validation.ts';
import { checkFaultRule, type SandboxFaultRule } from './faults/rule.ts';

/** The state of a sandbox as JSON, without its log and changes; see `sandbox.exportState`. */
export interface SandboxState extends SandboxRecords {
  /** The rules of `sandbox.faults` that are not used up, without those with a `percent`. */
  faults: SandboxFaultRule[];
}

const versionedSchema = lazy(() =>
  z.looseObject({ version: versionSchema() }, 'expected an object'),
);

/** The schema of a state is created once, because its creation takes longer than a check. */
const stateSchema = lazy((): Schema<SandboxState> =>
  z.strictObject(
    {
      ...platformStateShape(),
      faults: z.prefault(z.array(asSchema<SandboxFaultRule>(z.unknown()), 'expected a list'), []),
    },
    'expected an object',
  ),
);

/**
 * Checks a state, and returns a copy that shares nothing with the caller's object.
 * @throws SandboxError that names what is wrong with the state and where.
 */
export function parseState(value: unknown): SandboxState {
  const clonedValue: unknown = value === undefined ? undefined : parseJson(stringifyJson(value));
  // Check the version first, because it says more than the unknown fields of a later version.
  parseInput(versionedSchema(), clonedValue, stateReport);
  const state = parseInput(stateSchema(), clonedValue, stateReport);
  for (const [at, faultRule] of state.faults.entries()) {
    try {
      checkFaultRule(faultRule);
    } catch (cause) {
      throw validationError({ [`faults[${at}]`]: getMessage(cause) }, stateReport);
    }
  }
  checkReferences(state);
  return state;
}
