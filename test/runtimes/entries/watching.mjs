// Watches from the moment that it is imported.
import { watch } from '../side-effects.mjs';

export const finish = watch();
