/**
 * Which module of the project names which, read from the sources.
 *
 * @module
 */

import { dirname, join, relative } from "@std/path";

const SKIPPED = new Set([".git", "node_modules", "dist", "coverage"]);

/** A module that another one imports. */
export interface Import {
  specifier: string;
  /** Erased before it runs. */
  typeOnly: boolean;
  /** Loaded when the code gets there. */
  isDynamic: boolean;
}

/** A source file of the project. */
export interface Module {
  /** Relative to the root, such as `lib/agent/turn.ts`. */
  path: string;
  source: string;
  /** `resolved` is a path like this one's, or what the import map says of a package. */
  imports: (Import & { resolved: string })[];
}

/** Every import of a module by a literal: static, dynamic, and re-exports. */
export function importsOf(source: string): Import[] {
  const code = source
    .replace(/^\s*(?:\/\/|\*|\/\*).*$/gm, "")
    .replace(/`(?:[^`\\]|\\.)*`/gs, "``");
  const found: Import[] = [];
  for (
    const match of code.matchAll(/^\s*(?:import|export)\s(type\s)?[^;"'()=]*?["']([^"'\n]+)["']/gm)
  ) {
    found.push({ specifier: match[2]!, typeOnly: match[1] !== undefined, isDynamic: false });
  }
  for (const match of code.matchAll(/\bimport\(\s*["']([^"']+)["']/g)) {
    found.push({ specifier: match[1]!, typeOnly: false, isDynamic: true });
  }
  return found;
}

/** Reads every module below a root, whose import map is given. */
export async function readModules(
  root: string,
  importMap: Record<string, string>,
): Promise<Map<string, Module>> {
  const modules = new Map<string, Module>();
  for await (const file of sources(root)) {
    const path = relative(root, file);
    const source = await Deno.readTextFile(file);
    const imports = importsOf(source).map((one) => {
      const mapped = importMap[one.specifier] ?? one.specifier;
      const base = mapped === one.specifier ? dirname(file) : root;
      const resolved = mapped.startsWith(".") ? relative(root, join(base, mapped)) : mapped;
      return { ...one, resolved };
    });
    modules.set(path, { path, source, imports });
  }
  return modules;
}

async function* sources(dir: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(dir)) {
    const path = join(dir, entry.name);
    if (entry.isDirectory && !SKIPPED.has(entry.name)) yield* sources(path);
    else if (entry.isFile && /\.tsx?$/.test(entry.name)) yield path;
  }
}
