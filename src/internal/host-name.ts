import { builtinModule } from './runtime.ts';

/** The name of this machine, for the operator who reads an entry; empty where the runtime has none. */
export function hostName(): string {
  try {
    const { hostname } = (builtinModule('node:os') ?? {}) as { hostname?: () => string };
    return hostname?.() ?? '';
  } catch {
    // Deno asks for a permission.
    return '';
  }
}
