import { fileURLToPath } from 'node:url';

const resolveFile = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** Bundles the page's scripts and styles into one HTML document. */
async function build(): Promise<string> {
  const { build: bundle } = await import('esbuild');
  const { outputFiles } = await bundle({
    entryPoints: [resolveFile('./app.tsx'), resolveFile('./page.css')],
    tsconfig: resolveFile('./tsconfig.json'),
    outdir: 'page',
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
  });
  const getOutput = (ending: string) =>
    (outputFiles.find(({ path }) => path.endsWith(ending))?.text ?? '').trim();
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Payments sandbox</title>
<link rel="icon" href="data:,">
<style>${getOutput('.css')}</style>
</head>
<body>
<noscript>This page needs JavaScript; /_sandbox/ has the same actions.</noscript>
<script>${getOutput('.js')}</script>
</body>
</html>
`;
}

let cachedPage: Promise<string> | undefined;

/**
 * Returns the HTML of the sandbox's page with its style and script, built at the first request. The
 * package contains prebuilt HTML instead, see tsup.config.ts.
 */
export const page = (): Promise<string> => (cachedPage ??= build());
