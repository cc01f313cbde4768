/**
 * Sizes for people.
 *
 * @module
 */

const UNITS = ["B", "kB", "MB", "GB", "TB"];

/** `12.3 MB`; units of 1,000. */
export function formatSize(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3));
  const value = bytes / 1_000 ** unit;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
