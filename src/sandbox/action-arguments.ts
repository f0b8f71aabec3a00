import * as z from 'zod/mini';
import { parseJson, stringifyJson } from '../wires/json.ts';
import { address, type Hex } from '../schemas/primitives.ts';

const noToken: Hex = `0x${'0'.repeat(40)}`;
const withToken = z.object({ refuelERC20: z.object({ token: address() }) });

/** Arguments of an action as hexadecimal text: the bytes of their JSON text, so no digit is lost. */
export function encodeArguments(value: unknown): Hex {
  const bytes = new TextEncoder().encode(stringifyJson(value));
  return `0x${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The token that encoded arguments name; the zero address when they name none. */
export function tokenOf(encoded: Hex): Hex {
  const pairs = encoded.slice(2).match(/../g) ?? [];
  const bytes = Uint8Array.from(pairs, (pair) => Number(`0x${pair}`));
  try {
    const value = parseJson(new TextDecoder().decode(bytes));
    return withToken.safeParse(value).data?.refuelERC20.token ?? noToken;
  } catch {
    // Arguments that no sandbox encoded are opaque.
    return noToken;
  }
}
