/**
 * Arguments that several tools have.
 *
 * @module
 */

import { z } from "zod";

/** A path; what it really is, the authority finds out. */
export const path = z.string().min(1).max(4_096);

/** Characters of a text that one call may carry. */
const MAX_TEXT_CHARS = 4_000_000;

/** Text of a file. Half a surrogate pair could not be written as UTF-8 without loss. */
export const text = z.string().max(MAX_TEXT_CHARS).refine(
  (value) => value.isWellFormed(),
  "holds half of a character (a lone surrogate)",
);
