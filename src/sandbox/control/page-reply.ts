import type { Reply } from '../api/responses.ts';

/** Headers that stop browsers from caching a response and from guessing its content type. */
export const uncachedHeaders = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };

/** Hashes a script for the Content-Security-Policy header, so that browsers run no other script. */
async function hashScript(script: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(script));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/**
 * Creates the response with the sandbox's web page. Its headers forbid the browser to load anything
 * from elsewhere, to run an injected script, or to show the page in a frame.
 */
export async function createPageReply(html: string): Promise<Reply> {
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
    body: html,
  };
}
