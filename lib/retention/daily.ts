/**
 * When something that happens once a day is due.
 *
 * @module
 */

/** The last moment at which the clock of this place said `hh:mm`; milliseconds since 1970. */
export function lastTimeOfDay(hhmm: string, now: number): number {
  const [hour, minute] = hhmm.split(":").map(Number) as [number, number];
  const at = new Date(now);
  at.setHours(hour, minute, 0, 0);
  // At the same hour of the day before, which is not 24 hours earlier when clocks change.
  if (at.getTime() > now) at.setDate(at.getDate() - 1);
  return at.getTime();
}
