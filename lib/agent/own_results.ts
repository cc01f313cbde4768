/**
 * Results that the turn gives to calls by itself, and what a recording reads out of them.
 *
 * @module
 */

/** Of a call of a tool that there is not. */
export function unknownTool(tool: string, names: readonly string[]): string {
  return `There is no tool "${tool}". ` +
    (names.length === 0 ? "There are no tools." : `Tools: ${names.join(", ")}.`);
}

/** The names in such a result; undefined for any other. */
export function toolsNamed(output: string): string[] | undefined {
  const found = /^There is no tool "[^"]*"\. (?:Tools: (.+)|There are no tools)\.$/.exec(output);
  return found === null ? undefined : found[1]?.split(", ") ?? [];
}

/** Of a call in the last model call that a turn may make. */
export function outOfSteps(maxSteps: number): string {
  return `Not run: the turn has reached its limit of ${maxSteps} model calls.`;
}

/** The limit in such a result; undefined for any other. */
export function stepsNamed(output: string): number | undefined {
  const found = /^Not run: the turn has reached its limit of (\d+) model calls\.$/.exec(output);
  return found === null ? undefined : Number(found[1]);
}
