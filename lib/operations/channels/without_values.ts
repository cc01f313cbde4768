/**
 * Takes secrets out of words of a package that may be known to nobody yet: what somebody wants to set,
 * or what a connector has just brought.
 *
 * @module
 */

import { MIN_SECRET_CHARS } from "../../secrets/forms_of.ts";
import { fingerprintsOf, newSalt } from "../../secrets/fingerprints_of.ts";
import { createScrubber } from "../../secrets/scrubber.ts";

/** Shorter ones are parts of words. */
const MIN_CHARS = 4;

/** What takes these values, in any of their spellings, out of a text. */
export function withoutValues(secrets: readonly string[]): (text: string) => string {
  const salt = newSalt();
  const scrubber = createScrubber(
    secrets.flatMap((value) => fingerprintsOf({ name: "of the channel", value }, salt)),
  );
  const short = secrets.filter(({ length }) => length >= MIN_CHARS && length < MIN_SECRET_CHARS);
  return (text) =>
    short.reduce((left, value) => left.replaceAll(value, "[secret]"), scrubber.text(text));
}
