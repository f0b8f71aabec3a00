import { host } from '../internal/runtime.ts';
import type { Clock } from './clock.ts';
import type { HookCall, Hooks } from './hooks.ts';

const levels = ['warn', 'info', 'debug'];

/**
 * Adds a line on stderr for each event that PAYMENTS_LOG selects to the hooks of a client: `warn` for
 * failures and waits, `info` for every attempt, `debug` with its URL.
 */
export function withLogging(hooks: Hooks, { now }: Required<Clock>): Hooks {
  const level = levels.indexOf(host.process?.env?.['PAYMENTS_LOG']?.trim() ?? '');
  if (level < 0) return hooks;
  const urls = new Map<number, string>();
  const print = (logLevel: string, event: Omit<HookCall, 'attempt'>, details: string): void => {
    const { call, operation, method, path } = event;
    const target = urls.get(call) ?? path;
    const time = new Date(now()).toISOString();
    // oxlint-disable-next-line no-console -- stderr on every runtime
    console.error(
      `${time} payments ${logLevel} #${call} ${operation} ${method} ${target} ${details}`,
    );
  };
  return {
    onRequest(event) {
      if (level === 2) urls.set(event.call, event.url);
      return hooks.onRequest?.(event);
    },
    onResponse(event) {
      const { attempt, status, requestId, durationMs, outcome, reason } = event;
      const details = [
        `attempt ${attempt}:`,
        status ?? 'no response',
        `in ${durationMs} ms`,
        requestId !== undefined && `request ${requestId}`,
        reason !== undefined && `${outcome}: ${reason}`,
      ].filter((detail) => detail !== false);
      if (outcome !== 'ok') print('warn', event, details.join(' '));
      else if (level > 0) print('info', event, details.join(' '));
      urls.delete(event.call);
      return hooks.onResponse?.(event);
    },
    onRetry(event) {
      print('warn', event, `again in ${event.delayMs} ms: ${event.reason}`);
      return hooks.onRetry?.(event);
    },
    onWait(event) {
      print('warn', event, `held back for ${event.delayMs} ms: ${event.reason}`);
      return hooks.onWait?.(event);
    },
    onDrift(event) {
      // Without the messages: those of a caller's own schema may quote the response.
      print(
        'warn',
        event,
        `undocumented shape: ${event.issues.map(({ path }) => path).join(', ')}`,
      );
      return hooks.onDrift?.(event);
    },
    onOnce: (event) => hooks.onOnce?.(event),
  };
}
