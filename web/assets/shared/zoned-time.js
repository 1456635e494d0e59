// @ts-check

/** Times for people, with the time zone in which they are. */

const format = new Intl.DateTimeFormat(document.documentElement.lang, {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
});

/**
 * @param {string} time as the server writes it
 * @returns {string} in the reader's time zone: `Nov 30, 2026, 12:00 AM GMT+8`
 */
export function zonedTime(time) {
  return format.format(new Date(time));
}
