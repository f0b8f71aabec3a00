import v8 from '@vitest/coverage-v8';
import {
  V8CoverageProvider,
  type ScriptCoverageWithOffset,
} from '@vitest/coverage-v8/dist/provider.js';

/** Only child processes of test/full run these files. All others count only in the process of a test. */
const commands =
  /\/src\/(commands\/(program|journal\/\w+|probe\/(bin|flags))|sandbox\/(bin|command\/[\w-]+))\.ts$/;

type Callbacks<T> = Parameters<typeof V8CoverageProvider.prototype.readCoverageFiles<T>>[0];

/** Vitest and Node.js transform a file differently, so V8's offsets of one must not be added to those of the other. */
class CoverageProvider extends V8CoverageProvider {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as in the method that this one replaces
  override readCoverageFiles<T>(callbacks: Callbacks<T>): Promise<void> {
    return super.readCoverageFiles<T>({
      ...callbacks,
      onFileRead: (coverage) => {
        // The provider is V8's, so the content of a file is, too.
        const content = coverage as { result: ScriptCoverageWithOffset[] };
        content.result = content.result.filter(
          ({ url, isExtendedContext = false }) => commands.test(url) === isExtendedContext,
        );
        callbacks.onFileRead(coverage);
      },
    });
  }
}

// Vitest loads this module again after the tests, but the object that is changed here has its session of V8.
export default Object.assign(v8, { getProvider: () => new CoverageProvider() });
