/**
 * Where a value stands in the configuration: `agent.maxSteps`, `agent.fallbacks[0]`,
 * `providers.local.headers["X-Team.Name"]`.
 *
 * @module
 */

/** Keys from the outside in; a number is an index of a list. */
export type KeyPath = readonly (string | number)[];

const PLAIN = /^[A-Za-z_$][A-Za-z0-9_$-]*$/;
const SEGMENT = /(?:^|\.)([A-Za-z0-9_$][A-Za-z0-9_$-]*)|\[([0-9]+)\]|\[("(?:[^"\\]|\\.)*")\]/y;

/** The path as people write it. */
export function formatPath(path: KeyPath): string {
  let text = "";
  for (const segment of path) {
    if (typeof segment === "number") text += `[${segment}]`;
    else if (!PLAIN.test(segment)) text += `[${JSON.stringify(segment)}]`;
    else text += text === "" ? segment : `.${segment}`;
  }
  return text;
}

/** The opposite of {@linkcode formatPath}; undefined for what is no path. */
export function parsePath(text: string): KeyPath | undefined {
  if (text.startsWith(".")) return undefined;
  const path: (string | number)[] = [];
  SEGMENT.lastIndex = 0;
  while (SEGMENT.lastIndex < text.length) {
    const match = SEGMENT.exec(text);
    if (match === null) return undefined;
    const [, plain, index, quoted] = match;
    if (plain !== undefined) path.push(plain);
    else if (index !== undefined) path.push(Number(index));
    else {
      try {
        path.push(JSON.parse(quoted!));
      } catch {
        return undefined;
      }
    }
  }
  return path.length === 0 || path.includes("__proto__") ? undefined : path;
}

/** The value at a path, or undefined where there is none. */
export function valueAt(root: unknown, path: KeyPath): unknown {
  let value = root;
  for (const segment of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, segment)) {
      return undefined;
    }
    value = (value as Record<string | number, unknown>)[segment];
  }
  return value;
}

/** Whether one path is the other, or inside of it. */
export function isWithin(path: KeyPath, outer: KeyPath): boolean {
  return outer.every((segment, at) => path[at] === segment);
}

/** A plain JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
