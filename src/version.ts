/** The version of package.json, written by `npm version`. */
export const version = '0.5.0';
