/** The request was on its way when the connection ended; Discord may have done what it asked. */
export class CutOffError extends Error {
  override readonly name = "CutOffError";
}
