/** What a value is, without showing it. */
export function describeKind(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  const maker: unknown = Reflect.get(Object(Object.getPrototypeOf(value)), 'constructor');
  const name = typeof value === 'object' && typeof maker === 'function' ? maker.name : '';
  return withArticle(name === '' || name === 'Object' ? typeof value : name);
}

export const withArticle = (noun: string): string =>
  `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;

/** What has arrived: only numbers and short strings of digits are shown, because others may be secret. */
export function describeArrival(value: unknown): string {
  if (value === undefined) return 'missing';
  if (typeof value === 'number') return `got ${value}`;
  const isShown = typeof value === 'string' && /^[-+\d.,e]{0,10}$/.test(value);
  return `got ${isShown ? `"${value}"` : describeKind(value)}`;
}
