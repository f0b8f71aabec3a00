/** The longest timer that JavaScript holds; above it, setTimeout fires at once. */
export const maxTimerMs = 2 ** 31 - 1;
