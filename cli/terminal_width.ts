/** Columns of the terminal; undefined where there is none. */
export function terminalWidth(): number | undefined {
  try {
    return Deno.consoleSize().columns;
  } catch {
    return undefined;
  }
}
