/** Why a body could not be read to its end. */
export type BodyFault = 'stalled' | 'cut' | 'too_large' | 'not_text';

/** The status and the headers of a response. */
interface ResponseHead {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

/**
 * A response with as much of its body as could be read. A class, because an object literal with a
 * getter gets a hidden class of its own from V8, which keeps the call alive until the next full
 * garbage collection.
 */
export class ReceivedResponse {
  readonly status: number;
  readonly statusText: string;
  readonly text: string;
  readonly fault: BodyFault | undefined;
  readonly #head: ResponseHead;

  constructor(head: ResponseHead, text: string, fault: BodyFault | undefined) {
    this.status = head.status;
    this.statusText = head.statusText;
    this.text = text;
    this.fault = fault;
    this.#head = head;
  }

  /** Read from the transport on demand, because it may create them only then. */
  get headers(): Headers {
    return this.#head.headers;
  }
}
