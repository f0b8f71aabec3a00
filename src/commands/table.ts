/** Aligns the cells of rows in columns. The last column is not padded with spaces. */
export function formatColumns(rows: readonly (readonly string[])[]): string[] {
  // Math.max(...) would fail for 100,000 arguments.
  const widths = rows[0]?.map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths?.[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Breaks a text into lines at spaces, or inside a word that is longer than a line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > width) {
    const space = rest.lastIndexOf(' ', width);
    const end = space > 0 ? space : width;
    lines.push(rest.slice(0, end));
    rest = rest.slice(space > 0 ? end + 1 : end);
  }
  return [...lines, rest];
}

/**
 * Replaces control characters and line ends in a foreign string, because they would act on the
 * terminal, or end a comment of printed TypeScript.
 */
export const clean = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, '?');
