import { stringifyJson } from '../wires/json.ts';
import { errorBody, type SandboxError } from './problem.ts';

/**
 * A status, headers and a body text, not yet on any wire.
 * @inline
 */
export interface Reply {
  /** The HTTP status. */
  status: number;
  /** Headers by name. */
  headers: Record<string, string>;
  /** The text of the body; null when there is none. */
  body: string | null;
}

/** What a door has to show to the caller. */
export type SandboxAnswer =
  | ({
      /**
       * The whole reply; its headers and half of its body and then an end; the same and then
       * silence.
       */
      kind: 'complete' | 'truncated' | 'stalled';
    } & Reply)
  | {
      /** The connection breaks. */
      kind: 'reset';
    }
  | {
      /** Nothing happens until the caller gives up. */
      kind: 'hang';
    };

const json = { 'content-type': 'application/json' };

/** A success. 204 has no body, and so no content type. */
export const successReply = (status: number, value: unknown): Reply =>
  status === 204
    ? { status, headers: {}, body: null }
    : { status, headers: json, body: stringifyJson(value) };

/** A failure, with the documented error body. */
export const problemReply = (problem: SandboxError): Reply => ({
  status: problem.status,
  headers: json,
  body: stringifyJson(errorBody(problem)),
});
