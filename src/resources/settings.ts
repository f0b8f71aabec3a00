import { argument, path } from '../calls/arguments.ts';
import { responseCheck } from '../calls/response.ts';
import type { RequestOptions } from '../calls/options.ts';
import {
  settingsSchema,
  settingsUpdateInputSchema,
  type Settings,
  type SettingsUpdateInput,
} from '../schemas/settings.ts';
import type { ApiCall, RequestPipeline } from '../calls/pipeline.ts';

// The API reference has no call that reads the configuration: docs/gaps.md, row 26.
/** Methods for the configuration of the Platform, which the API can change but not read. */
export class PlatformSettings {
  readonly #api: RequestPipeline;

  /** @internal */
  constructor(versioned: RequestPipeline) {
    this.#api = versioned;
  }

  /**
   * Changes settings of the Platform; fields that you leave out stay unchanged. `webhookUrl: null`
   * disables webhooks.
   * @throws {@link ApiError} when the platform rejects it
   * @example
   * ```ts
   * import { PaymentsClient } from 'payments-platform-sdk';
   *
   * const payments = new PaymentsClient();
   * console.log(await payments.settings.update({ defaultChain: 'base' }));
   * ```
   */
  update(patch: SettingsUpdateInput, options?: RequestOptions): ApiCall<Settings> {
    return this.#api.call(
      {
        operation: 'settings.update',
        kind: 'idempotent',
        method: 'PATCH',
        path: path`/platform/settings`,
        body: argument(settingsUpdateInputSchema(), patch),
        response: responseCheck(settingsSchema()),
        ifUnknown:
          'the Settings may have changed, and cannot be read. Send the same change again, unless another process may have changed them.',
      },
      options,
    );
  }
}
