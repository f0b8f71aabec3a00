const steps = [
  { summary: 'in capitals', change: (text: string) => text.toUpperCase() },
  { summary: 'in small letters', change: (text: string) => text.toLowerCase() },
  { summary: 'without signs', change: (text: string) => text.replaceAll(/[^\p{L}\p{N} ]/gu, '') },
  { summary: 'without double spaces', change: (text: string) => text.replaceAll(/ +/g, ' ') },
];

/**
 * Says how the platform changes a payment's description, and which references survive that change.
 * Finds the fewest changes that explain the received description, which may be cut, too. Undefined
 * if the description is unchanged.
 */
export function describeChange(sent: string, received: unknown) {
  if (received === sent) return undefined;
  if (typeof received !== 'string' || received === '') {
    return { summary: 'not at all', advice: 'createOnce cannot find such a payment.' };
  }
  // Every combination of the steps, the fewest steps first. Bit n says whether step n applies.
  const combinations = Array.from({ length: 2 ** steps.length }, (_, bits) =>
    steps.filter((__, at) => Math.floor(bits / 2 ** at) % 2 === 1),
  ).toSorted((one, other) => one.length - other.length);
  for (const applied of combinations) {
    const expected = applied.reduce((text, { change }) => change(text), sent);
    const isCut = received.length < expected.length && expected.startsWith(received.trimEnd());
    if (expected !== received && !isCut) continue;
    const cut = isCut ? [`cut at ${received.length} characters`] : [];
    const limit = isCut ? [`of at most ${received.length} characters`] : [];
    return {
      summary: [...cut, ...applied.map(({ summary }) => summary)].join(', '),
      advice: `use references ${[...limit, ...applied.map(({ summary }) => summary)].join(', ')}, or createOnce reports them as ambiguous.`,
    };
  }
  return {
    summary: 'changed',
    advice: `compare "${sent.slice(0, 40)}…" with "${received.slice(0, 40)}…"; createOnce reports such a payment as ambiguous.`,
  };
}
