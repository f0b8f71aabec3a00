import { createContext, type ComponentChildren, type TargetedSubmitEvent } from 'preact';
import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { stringifyJson } from '../../internal/json.ts';
import { idPrefixes, type Noun } from '../platform/ids.ts';
import { getMessage } from '../platform/sandbox-error.ts';
import { callControl } from './live.ts';

/**
 * Runs an action, reads the state again, shows a message, and returns whether the action succeeded.
 * An error goes to `onError`, by default to the notice of the page.
 */
export type Run = (
  message: string,
  action: () => Promise<unknown>,
  onError?: (error: unknown) => void,
) => Promise<boolean>;

export const RunContext = createContext<Run | undefined>(undefined);

export function useRun(): Run {
  const run = useContext(RunContext);
  if (run === undefined) throw new Error('useRun was called outside of its provider.');
  return run;
}

/** Returns a function that posts to a control endpoint, and then shows the message. */
export function usePost() {
  const run = useRun();
  return (message: string, endpoint: string, body?: object): Promise<boolean> =>
    run(message, () => callControl('POST', endpoint, body && JSON.stringify(body)));
}

/** The titles of the panels by their ids, in the order of the navigation. */
export const panelTitles = {
  accounts: 'Accounts',
  transfers: 'Transfers',
  log: 'Log',
  faults: 'Faults',
  clock: 'Clock and state',
  entities: 'Entities',
  counterparties: 'Counterparties',
};

export function Panel(props: {
  id: keyof typeof panelTitles;
  count?: string | number;
  tools?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { id, count, tools, children } = props;
  return (
    <section id={id} class="panel" aria-labelledby={`${id}-title`} tabIndex={-1}>
      <div class="panel-head">
        <h2 id={`${id}-title`}>{panelTitles[id]}</h2>
        {count !== undefined && <span class="count">{count}</span>}
        <div class="tools">{tools}</div>
      </div>
      {children}
    </section>
  );
}

/** A button whose accessible name starts with its visible label. */
export function Action(props: {
  label: string;
  of?: string;
  kind?: 'plain' | 'danger';
  onClick: () => unknown;
}) {
  const { label, of, kind = 'plain', onClick } = props;
  return (
    <button
      type="button"
      class={kind}
      aria-label={of === undefined ? undefined : `${label} ${of}`}
      onClick={onClick}
    >
      {label}
    </button>
  );
}

const idPattern = new RegExp(`\\b((?:${Object.values(idPrefixes).join('|')})\\w+)`);
export const isRecordId = (text: string): boolean => text.search(idPattern) === 0;

/** Returns the first id of a record that occurs in a JSON value; '' if there is none. */
export const findRecordId = (value: unknown): string =>
  idPattern.exec(stringifyJson(value ?? null))?.[0] ?? '';

/** Shows a text in which each id is a link to its record. */
export const Linked = ({ text }: { text: string }) => (
  <>
    {/* The pattern has a group, so the parts at odd indexes are the ids. */}
    {text.split(idPattern).map((part, at) =>
      at % 2 === 0 ? (
        part
      ) : (
        <a key={at} href={`#${part}`}>
          {part}
        </a>
      ),
    )}
  </>
);

export const RecordLink = ({ id }: { id: string }) => (
  <a class="id" href={`#${id}`}>
    {id}
  </a>
);

type WithRawJson = JSON & { rawJSON?: (text: string) => unknown };

/** Formats a value as readable JSON, with every digit of a large integer. */
const formatJson = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, inner: unknown) =>
      typeof inner === 'bigint'
        ? ((JSON as WithRawJson).rawJSON?.(String(inner)) ?? String(inner))
        : inner,
    2,
  );

export const Json = ({ value }: { value: unknown }) => (
  <pre tabIndex={0}>
    <Linked text={typeof value === 'string' ? value : formatJson(value)} />
  </pre>
);

/** The fields of a form by their names, without the empty ones. */
export type Fields = Readonly<Record<string, string | undefined>>;

/**
 * A form with a button. `send` gets the text of each field that is not empty, trimmed. An error
 * stays in the form until the form is sent again.
 */
export function Form(props: {
  label: string;
  class?: string;
  /** The text of the button. Screen readers read `submitLabel` instead. */
  submit: string;
  submitLabel?: string;
  send: (fields: Fields) => Promise<unknown>;
  /** Returns the message after a success. */
  done: (fields: Fields) => string;
  children: ComponentChildren;
}) {
  const { label, submit, submitLabel, send, done, children } = props;
  const run = useRun();
  const [error, setError] = useState<unknown>();
  const onSubmit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields = [...new FormData(form)].flatMap(([name, value]) =>
      typeof value === 'string' && value.trim() !== '' ? [[name, value.trim()] as const] : [],
    );
    const input: Fields = Object.fromEntries(fields);
    setError(undefined);
    void run(done(input), () => send(input), setError).then((isDone) => {
      // The choices stay, because the next record often has the same Account or Entity.
      if (isDone) for (const text of form.querySelectorAll('input')) text.value = text.defaultValue;
    });
  };
  return (
    <form class={props.class ?? 'form'} aria-label={label} onSubmit={onSubmit}>
      {children}
      <button type="submit" aria-label={submitLabel}>
        {submit}
      </button>
      {error !== undefined && (
        <p class="problem" role="alert">
          {getMessage(error)}
        </p>
      )}
    </form>
  );
}

export function Field(props: {
  /** The visible label. Pass `ariaLabel` instead if a button beside the field says enough. */
  label?: string;
  ariaLabel?: string;
  name: string;
  required?: boolean;
  placeholder?: string;
  decimal?: boolean;
  value?: string;
}) {
  const { label, ariaLabel, name, required = false, placeholder, decimal = false, value } = props;
  return (
    <label>
      {label !== undefined && <span>{label}</span>}
      <input
        name={name}
        aria-label={ariaLabel}
        required={required}
        placeholder={placeholder}
        defaultValue={value}
        inputMode={decimal ? 'decimal' : undefined}
        autoComplete="off"
      />
    </label>
  );
}

/** A form that creates a record, under a heading that opens the form. */
function Create(props: {
  noun: string;
  endpoint: string;
  toInput?: ((fields: Fields) => object) | undefined;
  children: ComponentChildren;
}) {
  const { noun, endpoint, toInput = (fields) => fields, children } = props;
  return (
    <details class="create">
      <summary>New {noun}</summary>
      <Form
        label={`New ${noun}`}
        submit="Create"
        submitLabel={`Create ${noun}`}
        done={() => `Created the ${noun}.`}
        send={(fields) => callControl('POST', endpoint, JSON.stringify(toInput(fields)))}
      >
        {children}
      </Form>
    </details>
  );
}

export function Choice(props: {
  label: string;
  name: string;
  options: readonly (readonly [value: string, text: string])[];
  value?: string;
  onPick?: (value: string) => void;
}) {
  const { label, name, options, value, onPick } = props;
  return (
    <label>
      <span>{label}</span>
      <select
        name={name}
        value={value}
        onChange={({ currentTarget }) => {
          onPick?.(currentTarget.value);
        }}
      >
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}

export const Badge = ({ text, tone }: { text: string; tone: string }) => (
  <span class={`badge ${tone}`}>{text}</span>
);

export const Empty = ({ children }: { children: ComponentChildren }) => (
  <p class="empty">{children}</p>
);

/** The maximum of rows in a list on the page, because a browser draws so many in a few milliseconds. */
export const maxRows = 200;

/** Returns the rows that a list on the page shows: the latest ones, newest first. */
export const getLatest = <Row,>(rows: readonly Row[]): Row[] => rows.slice(-maxRows).toReversed();

/** The rows of a list, up to `maxRows`, or a sentence that says why there are none. */
export function Rows<Row>(props: {
  noun: string;
  /** Whether the list would be empty even without a search. */
  isEmpty: boolean;
  shown: readonly Row[];
  renderRow: (row: Row) => ComponentChildren;
}) {
  const { noun, isEmpty, shown, renderRow } = props;
  return (
    <>
      {shown.length === 0 && <Empty>{`No ${noun} ${isEmpty ? 'yet' : 'matches'}.`}</Empty>}
      <ul class="rows scroll">{shown.slice(0, maxRows).map(renderRow)}</ul>
      {shown.length > maxRows && (
        <Empty>
          The latest {maxRows} of {shown.length} are shown.
        </Empty>
      )}
    </>
  );
}

/** The records of a noun, latest first, and a form that creates a record, with `children` as its fields. */
export function RecordPanel<Row>(props: {
  id: Noun & keyof typeof panelTitles;
  noun: string;
  rows: readonly Row[];
  /** The rows that pass the search. Default: all. */
  shown?: readonly Row[];
  tools?: ComponentChildren;
  renderRow: (row: Row) => ComponentChildren;
  toInput?: ((fields: Fields) => object) | undefined;
  children: ComponentChildren;
}) {
  const { id, noun, rows, shown = rows, tools, renderRow, toInput, children } = props;
  const isEmpty = rows.length === 0;
  const latest = shown.toReversed();
  return (
    <Panel id={id} count={rows.length} tools={tools}>
      <Rows noun={noun} isEmpty={isEmpty} shown={latest} renderRow={renderRow} />
      <Create noun={noun} endpoint={id} toInput={toInput}>
        {children}
      </Create>
    </Panel>
  );
}

/** The options of a choice between records, such as Accounts. */
export const listChoices = (rows: readonly { id: string; name: string }[]) =>
  rows.slice(0, maxRows).map(({ id, name }) => [id, `${id} ${name}`] as const);

/** The name and the id of a record, at the start of its row. */
export const Who = ({ name, id }: { name: string; id: string }) => (
  <div class="who">
    <h3>{name}</h3>
    <RecordLink id={id} />
  </div>
);

/**
 * Keeps the search text of a list. Returns its field, and a function that says whether the list
 * shows an item; `getText` returns the lower-case text that is searched.
 */
export function useSearch<Item>(of: string, placeholder: string, getText: (item: Item) => string) {
  const [search, setSearch] = useState('');
  const searchText = search.trim().toLowerCase();
  const field = (
    <label>
      <span>Find</span>
      <input
        type="search"
        aria-label={`Find ${of}`}
        value={search}
        placeholder={placeholder}
        onInput={({ currentTarget }) => {
          setSearch(currentTarget.value);
        }}
      />
    </label>
  );
  const isShown = (item: Item): boolean => searchText === '' || getText(item).includes(searchText);
  return { field, isShown };
}

/** Keeps the keyboard focus in a row of a list when the focused button disappears. */
export function useRowFocus<Row extends HTMLElement>() {
  const row = useRef<Row>(null);
  const held = useRef(false);
  held.current = row.current?.contains(document.activeElement) === true;
  useLayoutEffect(() => {
    if (held.current && document.activeElement === document.body) row.current?.focus();
  });
  return row;
}
