import {
  settingsUpdateInputSchema,
  type Settings,
  type SettingsUpdateInput,
} from '../../schemas/settings.ts';
import type { Platform } from './platform.ts';
import { parseInput } from './validation.ts';

/** Changes the Settings as PATCH /platform/settings does. Absent fields stay as they are. */
export function updateSettings(platform: Platform, patch: SettingsUpdateInput): Settings {
  const { settings } = platform;
  platform.settings = {
    autoEarnEnabled: patch.autoEarnEnabled ?? settings.autoEarnEnabled,
    autoEarnVault: patch.autoEarnVault ?? settings.autoEarnVault,
    defaultChain: patch.defaultChain ?? settings.defaultChain,
    // A `webhookUrl` of null is a new value, not an absent one: null disables webhooks.
    webhookUrl: patch.webhookUrl === undefined ? settings.webhookUrl : patch.webhookUrl,
    updatedAt: platform.clock.toIsoNow(),
  };
  platform.changes.add('settings.updated', cloneSettings, settings, platform.settings);
  return cloneSettings(platform.settings);
}

const cloneSettings = (settings: Settings): Settings => ({ ...settings });

/** Methods for the Settings of a sandbox. Unlike the API, the sandbox can also read them. */
export class SandboxSettings {
  readonly #platform: Platform;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Returns the current Settings. */
  get(): Settings {
    return cloneSettings(this.#platform.settings);
  }

  /**
   * Changes Settings, as PATCH /platform/settings does.
   * @throws SandboxError when a field is malformed, or auto-earn is enabled without a vault.
   */
  update(patch: SettingsUpdateInput): Settings {
    const report = 'The patch of sandbox.settings.update is';
    return updateSettings(this.#platform, parseInput(settingsUpdateInputSchema(), patch, report));
  }
}
