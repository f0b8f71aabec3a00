import { operationPaths } from './operations.ts';

/**
 * Counts the edits (replacing, inserting or deleting a character) that turn the text `from` into
 * `to`. An insertion counts half, so a path that lacks a part ranks as nearer than a different one.
 */
function countEdits(from: string, to: string): number {
  // Element `n` counts the edits from the characters of `from` so far to the first `n` of `to`.
  let previous = Array.from({ length: to.length + 1 }, (_, at) => at / 2);
  for (const [row, character] of [...from].entries()) {
    const current = [row + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (previous[column] ?? 0) + Number(to[column] !== character);
      const inserted = (current[column] ?? 0) + 1 / 2;
      const deleted = (previous[column + 1] ?? 0) + 1;
      current.push(Math.min(replaced, inserted, deleted));
    }
    previous = current;
  }
  return previous.at(-1) ?? 0;
}

/** Returns the documented method and path that are most similar to those of a request. */
export function findNearestRoute(method: string, path: string): string {
  // Only the start of a long path is compared, because no documented path is that long.
  const requestedPath = path.slice(0, 200).replace(/\/[a-z]+_[^/]*/g, '/{id}');
  const rankRoute = (route: string): number => {
    const [routeMethod, routePath = ''] = route.split(' ');
    // A route that ends with the same word as the requested path is probably meant, so /settings
    // finds /platform/settings.
    const hasSameEnd = routePath.endsWith(requestedPath.slice(requestedPath.lastIndexOf('/')));
    const distance = countEdits(requestedPath, routePath) * (hasSameEnd ? 0.5 : 1);
    return distance + Number(routeMethod !== method);
  };
  return Object.values(operationPaths).reduce((nearest, route) =>
    rankRoute(route) < rankRoute(nearest) ? route : nearest,
  );
}
