/**
 * YAML, for files that other programs read.
 *
 * @module
 */

// deno-lint-ignore no-explicit-any -- the package comes without types
const { parse }: any = await import("npm:deno-std@1.4.0/yaml/mod.js" as string);

/** The value of a text. Throws SyntaxError. */
export function parseYaml(text: string): unknown {
  return parse(text);
}
