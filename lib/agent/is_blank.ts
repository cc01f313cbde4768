/**
 * Whether a text says nothing.
 *
 * @module
 */

/** True for white space and characters that nobody sees, such as a zero-width space. */
export function isBlank(text: string): boolean {
  return text.replace(/\p{Default_Ignorable_Code_Point}/gu, "").trim() === "";
}
