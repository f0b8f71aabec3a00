import { argument, path } from '../calls/arguments.ts';
import { responseCheck } from '../calls/response.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  builtInstructionSchema,
  instructionBuildInputSchema,
  instructionListInputSchema,
  instructionsSchema,
  type BuiltInstruction,
  type Instruction,
  type InstructionBuildInput,
  type InstructionListInput,
} from '../schemas/instruction.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';

/** Methods for Instructions, the on-chain automation. They use the root URL and need `jwt`. */
export class Instructions {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(root: RequestPipeline) {
    this.#api = root;
  }

  /**
   * Builds an instruction payload. This call puts nothing on chain.
   * @throws {@link ApiError} when the platform rejects it
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const { action } = await payments.instructions.build({
   *   address: '0x00000000000000000000000000000000000000aa',
   *   chainId: 8453,
   *   salt: 1,
   *   maxExecutions: 10,
   *   actionArguments: { yourOwnKind: { threshold: 5 } },
   * });
   * console.log(action);
   * ```
   */
  build(input: InstructionBuildInput, options?: RequestOptions): ApiCall<BuiltInstruction> {
    return this.#api.call(
      {
        operation: 'instructions.build',
        // The POST computes a payload and stores nothing, so the client may repeat the request.
        kind: 'safe',
        method: 'POST',
        path: path`/instruction/build`,
        body: argument(instructionBuildInputSchema(), input),
        response: responseCheck(builtInstructionSchema()),
      },
      options,
    );
  }

  /**
   * Lists the Instructions of an address, all at once. The request is a GET with a body, which
   * Workers and browsers cannot send.
   * @throws {@link ConfigurationError} when the runtime cannot send a GET with a body
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * const address = '0x00000000000000000000000000000000000000aa';
   * console.log((await payments.instructions.list({ address })).length);
   * ```
   */
  list(input: InstructionListInput, options?: RequestOptions): ApiCall<readonly Instruction[]> {
    return this.#api.call(
      {
        operation: 'instructions.list',
        kind: 'safe',
        method: 'GET',
        path: path`/instructions/all`,
        body: argument(instructionListInputSchema(), input),
        response: responseCheck(instructionsSchema()),
      },
      options,
    );
  }
}
