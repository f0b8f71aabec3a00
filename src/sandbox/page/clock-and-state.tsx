import { memo } from 'preact/compat';
import { Action, Panel, usePost } from './parts.tsx';

const minute = 60_000;
const steps = [
  ['1 minute', minute],
  ['1 hour', 60 * minute],
  ['1 day', 24 * 60 * minute],
] as const;

const question = 'Reset the sandbox? This deletes everything in it, the log too.';

export const ClockAndState = memo(({ offsetMs }: { offsetMs: number }) => {
  const post = usePost();
  const reset = (message: string, body?: { seed: 'demo' }) => {
    if (confirm(question)) void post(message, 'reset', body);
  };
  return (
    <Panel id="clock">
      <p class="clock">{offsetMs === 0 ? 'Not advanced' : `${offsetMs / minute} minutes ahead`}</p>
      <div class="actions" role="group" aria-label="Advance the clock">
        {steps.map(([name, ms]) => (
          <Action
            key={name}
            label={`+ ${name}`}
            onClick={() => post(`Advanced the clock by ${name}.`, 'clock', { advanceMs: ms })}
          />
        ))}
      </div>
      <div class="actions" role="group" aria-label="State">
        <a class="button" href="/_sandbox/state" download="sandbox-state.json">
          Export state
        </a>
        <Action
          label="Reset to empty"
          kind="danger"
          onClick={() => {
            reset('The sandbox is empty.');
          }}
        />
        <Action
          label="Reset to the demo"
          kind="danger"
          onClick={() => {
            reset('The sandbox holds the demo data.', { seed: 'demo' });
          }}
        />
      </div>
    </Panel>
  );
});
