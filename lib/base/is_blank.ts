/**
 * Whether a text says nothing.
 *
 * @module
 */

/** True for white space and characters that nobody sees, such as a zero-width space. */
export function isBlank(text: string): boolean {
  // Ends at the first character that says something, however long the text is.
  return !/[^\s\p{Default_Ignorable_Code_Point}]/u.test(text);
}
