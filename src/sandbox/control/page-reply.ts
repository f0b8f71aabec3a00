import type { Reply } from '../api/responses.ts';

/** Headers of responses that change at any moment, and keep their content type. */
export const uncachedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** The hash of a script for the policy, so that no other script of the page runs. */
async function hashScript(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/**
 * The page at `/`, with its scripts in it. It loads nothing from elsewhere, runs no injected script,
 * and cannot be framed by another page. A mark in it says that the server has worlds.
 */
export async function createPageReply(html: string, hasWorlds = false): Promise<Reply> {
  const scripts = html.matchAll(/<script\b[^>]*>([\s\S]*?)<\/script>/g);
  const hashes = await Promise.all([...scripts].map(([, script = '']) => hashScript(script)));
  return {
    status: 200,
    headers: {
      ...uncachedHeaders,
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': [
        "default-src 'none'",
        `script-src ${hashes.join(' ') || "'none'"}`,
        "style-src 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "connect-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ].join('; '),
      'referrer-policy': 'no-referrer',
      'x-frame-options': 'DENY',
    },
    body: hasWorlds ? html.replace('<html', '<html data-worlds') : html,
  };
}
