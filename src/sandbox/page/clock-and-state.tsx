import { memo } from 'preact/compat';
import { useRef } from 'preact/hooks';
import { callControl } from './live.ts';
import { Action, Panel, usePost, useRun } from './parts.tsx';

const minute = 60_000;
const steps = [
  ['1 minute', minute],
  ['1 hour', 60 * minute],
  ['1 day', 24 * 60 * minute],
] as const;

/** Formats a duration in days, hours, minutes and seconds, without those that are zero. */
function formatDuration(ms: number): string {
  const parts = [
    [Math.floor(ms / minute / 60 / 24), 'day'],
    [Math.floor(ms / minute / 60) % 24, 'hour'],
    [Math.floor(ms / minute) % 60, 'minute'],
    [(ms % minute) / 1_000, 'second'],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}${count === 1 ? '' : 's'}`)
    .join(' ');
}

export const ClockAndState = memo(({ offsetMs }: { offsetMs: number }) => {
  const run = useRun();
  const post = usePost();
  const dialog = useRef<HTMLDialogElement>(null);
  const fileInput = useRef<HTMLInputElement>(null);
  const reset = (message: string, body?: { seed: 'demo' }) => {
    dialog.current?.close();
    return post(message, 'reset', body);
  };
  const importState = async () => {
    const stateFile = fileInput.current?.files?.[0];
    if (stateFile === undefined) return;
    await run(`Imported the state of ${stateFile.name}.`, async () =>
      callControl('PUT', 'state', await stateFile.text()),
    );
    // Empty the file input, so that choosing the same file again fires a change event.
    if (fileInput.current !== null) fileInput.current.value = '';
  };
  return (
    <Panel id="clock">
      <p class="clock">{offsetMs === 0 ? 'Not advanced' : `${formatDuration(offsetMs)} ahead`}</p>
      <div class="actions" role="group" aria-label="Advance the clock">
        {steps.map(([name, ms]) => (
          <Action
            key={name}
            label={`+ ${name}`}
            onClick={() => post(`Advanced the clock by ${name}.`, 'clock', { advanceMs: ms })}
          />
        ))}
      </div>
      <div class="actions state" role="group" aria-label="State">
        <a class="button" href="/_sandbox/state" download="sandbox-state.json">
          Export state
        </a>
        <label class="button">
          Import state
          <input
            ref={fileInput}
            class="file"
            type="file"
            accept=".json,application/json"
            onChange={() => void importState()}
          />
        </label>
        <Action label="Reset …" kind="danger" onClick={() => dialog.current?.showModal()} />
      </div>
      <dialog ref={dialog} aria-labelledby="reset-title">
        <h2 id="reset-title">Reset the sandbox?</h2>
        <p>This deletes everything in it, the log too. Export the state first to keep it.</p>
        {/* The first button gets the focus, so that pressing Enter twice deletes nothing. */}
        <div class="actions">
          <Action label="Keep it" onClick={() => dialog.current?.close()} />
          <Action
            label="Reset to empty"
            kind="danger"
            onClick={() => reset('The sandbox is empty.')}
          />
          <Action
            label="Reset to the demo"
            kind="danger"
            onClick={() => reset('The sandbox holds the demo data.', { seed: 'demo' })}
          />
        </div>
      </dialog>
    </Panel>
  );
});
