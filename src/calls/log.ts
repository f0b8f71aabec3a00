import { host } from '../internal/runtime.ts';
import type { Clock } from './clock.ts';
import type { HookCall, Hooks } from './hooks.ts';

const levels = ['warn', 'info', 'debug'];

/**
 * The hooks of a client, after a line on stderr for each event that PAYMENTS_LOG asks for: `warn` for what went
 * wrong and for waits, `info` for every attempt, `debug` with its URL.
 */
export function withLogging(hooks: Hooks, { now }: Required<Clock>): Hooks {
  const level = levels.indexOf(host.process?.env?.['PAYMENTS_LOG']?.trim() ?? '');
  if (level < 0) return hooks;
  const urls = new Map<number, string>();
  const print = (word: string, event: Omit<HookCall, 'attempt'>, said: string): void => {
    const { call, operation, method, path } = event;
    const what = urls.get(call) ?? path;
    const time = new Date(now()).toISOString();
    // oxlint-disable-next-line no-console -- stderr on every runtime
    console.error(`${time} payments ${word} #${call} ${operation} ${method} ${what} ${said}`);
  };
  return {
    onRequest(event) {
      if (level === 2) urls.set(event.call, event.url);
      return hooks.onRequest?.(event);
    },
    onResponse(event) {
      const { attempt, status, requestId, durationMs, outcome, reason } = event;
      const said = [
        `attempt ${attempt}:`,
        status ?? 'no answer',
        `in ${durationMs} ms`,
        ...(requestId === undefined ? [] : [`request ${requestId}`]),
        ...(reason === undefined ? [] : [`${outcome}: ${reason}`]),
      ];
      if (outcome !== 'ok') print('warn', event, said.join(' '));
      else if (level > 0) print('info', event, said.join(' '));
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
      // Without the messages: those of a caller's own schema may quote the answer.
      print(
        'warn',
        event,
        `undocumented shape: ${event.issues.map(({ path }) => path).join(', ')}`,
      );
      return hooks.onDrift?.(event);
    },
  };
}
