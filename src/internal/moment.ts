export const expectedMoment = 'a valid Date or string such as "2026-01-31T12:00:00Z"';

/** Whether a value is a Date, or an ISO 8601 string with an offset. */
export const isMoment = (value: unknown): value is Date | string =>
  typeof value === 'string'
    ? /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/.test(value) &&
      !Number.isNaN(Date.parse(value)) &&
      isOnCalendar(value)
    : value instanceof Date && !Number.isNaN(value.getTime());

/** Date.parse makes 2 March of 30 February. */
const isOnCalendar = (dateTime: string): boolean => {
  const day = dateTime.slice(0, 10);
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
};
