/**
 * What the reader of a format gives back.
 *
 * @module
 */

/** Text of a document, before it is cut. */
export interface DocumentText {
  text: string;
  /** Characters that follow and were not put together, for they would be cut. */
  moreChars?: number;
  /** Lines in brackets that say what is missing; they stand at the end, whatever is cut. */
  notes: string[];
}
