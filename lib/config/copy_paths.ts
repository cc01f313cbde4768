import type { Config } from "./schema.ts";

/** Copies the values at dotted paths from one configuration to another. */
export function copyPaths(from: Config, to: Config, paths: readonly string[]): void {
  for (const path of paths) {
    const keys = path.split(".");
    const last = keys.pop()!;
    // deno-lint-ignore no-explicit-any -- both were checked by the schema that named the paths
    let [source, target] = [from as any, to as any];
    for (const key of keys) [source, target] = [source[key], target[key]];
    if (source[last] === undefined) delete target[last];
    else target[last] = source[last];
  }
}
