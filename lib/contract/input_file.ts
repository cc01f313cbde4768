/** A file that came with a message, before anything was looked at. */
export interface InputFile {
  /** As the sender named it, or made up. */
  name: string;
  bytes: Uint8Array;
}
