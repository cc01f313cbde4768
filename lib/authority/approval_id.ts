/**
 * Ids of approvals.
 *
 * @module
 */

const LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** `apr_` and 16 random letters and digits, 80 bits. */
export function newApprovalId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `apr_${Array.from(bytes, (byte) => LETTERS[byte % LETTERS.length]).join("")}`;
}
