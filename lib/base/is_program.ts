/**
 * @module
 */

/** Whether a file is there that may be executed, as far as this system has a mode for it. */
export function isProgram(path: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && ((mode ?? 0o111) & 0o111) !== 0;
  } catch {
    return false;
  }
}
