import { memo } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask } from './live.ts';
import { Deed, Panel, useDeeds } from './parts.tsx';

const minute = 60_000;
const steps = [
  ['1 minute', minute],
  ['1 hour', 60 * minute],
  ['1 day', 24 * 60 * minute],
] as const;

const clockText = (offsetMs: number) =>
  new Date(Date.now() + offsetMs).toISOString().slice(0, 19).replace('T', ' ');

function Clock({ offsetMs }: { offsetMs: number }) {
  const [text, setText] = useState(clockText(offsetMs));
  useEffect(() => {
    const tick = () => {
      setText(clockText(offsetMs));
    };
    tick();
    const timer = setInterval(tick, 1_000);
    return () => {
      clearInterval(timer);
    };
  }, [offsetMs]);
  return (
    <p class="clock">
      <time>{text} UTC</time>
      {offsetMs > 0 && <small> {Math.round(offsetMs / minute)} minutes ahead</small>}
    </p>
  );
}

export const WorldPanel = memo(({ offsetMs }: { offsetMs: number }) => {
  const { run } = useDeeds();
  const dialog = useRef<HTMLDialogElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const reset = (body: string | undefined, said: string) => {
    dialog.current?.close();
    void run(said, () => ask('POST', 'reset', body));
  };
  const take = async () => {
    const chosen = file.current?.files?.[0];
    if (chosen === undefined) return;
    await run(`The state is that of ${chosen.name}.`, async () =>
      ask('PUT', 'state', await chosen.text()),
    );
    // The same file may be chosen again.
    if (file.current !== null) file.current.value = '';
  };
  return (
    <Panel id="world" title="Clock and state">
      <Clock offsetMs={offsetMs} />
      <div class="deeds" role="group" aria-label="Set the clock on">
        {steps.map(([name, ms]) => (
          <Deed
            key={name}
            label={`+ ${name}`}
            onClick={() => {
              void run(`The clock is ${name} further.`, () =>
                ask('POST', 'clock', JSON.stringify({ advanceMs: ms })),
              );
            }}
          />
        ))}
      </div>
      <div class="deeds state" role="group" aria-label="State">
        <a class="button" href="/_sandbox/state" download="sandbox-state.json">
          Export state
        </a>
        <label class="button">
          Import state
          <input
            ref={file}
            class="file"
            type="file"
            accept=".json,application/json"
            onChange={() => void take()}
          />
        </label>
        <Deed label="Reset …" kind="danger" onClick={() => dialog.current?.showModal()} />
      </div>
      <dialog ref={dialog} aria-labelledby="reset-title">
        <h2 id="reset-title">Reset the sandbox?</h2>
        <p>Everything in it goes, the log too. Export the state first to keep it.</p>
        <div class="deeds">
          <Deed
            label="Reset to empty"
            kind="danger"
            onClick={() => {
              reset(undefined, 'The sandbox is empty.');
            }}
          />
          <Deed
            label="Reset to the demo"
            kind="danger"
            onClick={() => {
              reset('{"seed":"demo"}', 'The demo is furnished again.');
            }}
          />
          <Deed label="Keep it" onClick={() => dialog.current?.close()} />
        </div>
      </dialog>
    </Panel>
  );
});
