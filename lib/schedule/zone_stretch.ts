/**
 * The stretch of time around an instant in which a zone's offset from UTC stays the same.
 *
 * @module
 */

/** Between two changes of a zone's offset. All numbers are milliseconds. */
export interface ZoneStretch {
  /** First instant; -Infinity when the offset never changed before. */
  start: number;
  /** First instant after it; Infinity when the offset never changes again. */
  end: number;
  /** What is added to an instant for the local time. */
  offsetMs: number;
  /** The offset just before `start`. */
  priorOffsetMs: number;
}

/** {@linkcode ZoneStretch} around an instant. `timeZone` is one that {@linkcode isTimeZone} takes. */
export function zoneStretch(timeZone: string, atMs: number): ZoneStretch {
  const local = inZone(timeZone, atMs);
  // "previous" is strictly before, so that an instant which is itself a change would be passed over.
  const previous = inZone(timeZone, atMs + 1).getTimeZoneTransition("previous");
  const start = previous?.epochMilliseconds ?? -Infinity;
  const offsetMs = local.offsetNanoseconds / 1e6;
  return {
    start,
    end: local.getTimeZoneTransition("next")?.epochMilliseconds ?? Infinity,
    offsetMs,
    priorOffsetMs: previous === null
      ? offsetMs
      : inZone(timeZone, start - 1).offsetNanoseconds / 1e6,
  };
}

function inZone(timeZone: string, atMs: number): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone);
}

/** Whether a text names a zone of the IANA database; a bare offset such as `+02:00` names none. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,99}$/.test(text)) return false;
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return true;
  } catch {
    return false;
  }
}
