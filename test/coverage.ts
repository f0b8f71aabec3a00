import v8 from '@vitest/coverage-v8';
import {
  V8CoverageProvider,
  type ScriptCoverageWithOffset,
} from '@vitest/coverage-v8/dist/provider.js';

/** Only child processes of test/full run these files. All others count only in the process of a test. */
const commands =
  /\/src\/(commands\/(program|journal\/\w+|probe\/(bin|flags))|sandbox\/(bin|command\/[\w-]+))\.ts$/;

interface Coverage {
  readonly result: readonly ScriptCoverageWithOffset[];
}
type Callbacks = Parameters<typeof V8CoverageProvider.prototype.readCoverageFiles<Coverage>>[0];

/** Vitest and Node.js transform a file differently, so V8's offsets of one must not be added to those of the other. */
class CoverageProvider extends V8CoverageProvider {
  override readCoverageFiles(callbacks: Callbacks): Promise<void> {
    return super.readCoverageFiles<Coverage>({
      ...callbacks,
      onFileRead: ({ result }) => {
        callbacks.onFileRead({
          result: result.filter(
            ({ url, isExtendedContext = false }) => commands.test(url) === isExtendedContext,
          ),
        });
      },
    });
  }
}

// Vitest loads this module again after the tests, but the object that is changed here has its session of V8.
export default Object.assign(v8, { getProvider: () => new CoverageProvider() });
