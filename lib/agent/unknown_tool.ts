/**
 * What a model is told that calls a tool that there is not.
 *
 * @module
 */

/** The words. */
export function unknownTool(tool: string, names: readonly string[]): string {
  return `There is no tool "${tool}". ` +
    (names.length === 0 ? "There are no tools." : `Tools: ${names.join(", ")}.`);
}

/** The names in these words; undefined for any others. */
export function toolsNamed(output: string): string[] | undefined {
  const found = /^There is no tool "[^"]*"\. (?:Tools: (.+)|There are no tools)\.$/.exec(output);
  return found === null ? undefined : found[1]?.split(", ") ?? [];
}
