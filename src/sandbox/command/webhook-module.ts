import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { getMessage } from '../platform/sandbox-error.ts';
import type { SandboxWebhookShape } from '../webhooks/webhooks.ts';

/**
 * Loads the function that creates webhook notifications, the default export of a JavaScript module.
 * @throws Error that names the file.
 */
export async function loadWebhookShape(path: string): Promise<SandboxWebhookShape> {
  try {
    const { default: shape } = (await import(pathToFileURL(resolve(path)).href)) as {
      default?: unknown;
    };
    if (typeof shape === 'function') return shape as SandboxWebhookShape;
  } catch (cause) {
    throw new Error(`The webhook module ${path} cannot be loaded: ${getMessage(cause)}`, { cause });
  }
  throw new Error(
    `The webhook module ${path} has no function as its default export: (change) => ({ body, headers }), or undefined for a change that is not reported.`,
  );
}
