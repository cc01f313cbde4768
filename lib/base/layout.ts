/**
 * Where the parts of the program are. From source that is the checkout. The built form (`deno task build`)
 * has the same places, but each module that a process or a Worker starts with holds all that it imports,
 * packages included but for those that are fetched (`lib/packages/wanted_packages.ts`). Children load this
 * module and see few folders, so it imports nothing.
 *
 * @module
 */

/** From this module to the folder of the program; the build puts another one here. */
const TO_ROOT = "../../";

/** Whether this is the built form. */
export const IS_BUILT: boolean = !import.meta.url.endsWith(".ts");

/**
 * Whether a process can't be given its permissions by flags: the compiled binary has them baked in. Such a
 * process starts with all that the launcher may, and gives itself what is its own (`lib/executor/child.ts`).
 */
export const NARROWS_ITSELF: boolean = Deno.build.standalone;

/** Folder of the program, with a slash at its end. */
export const ROOT: URL = new URL(TO_ROOT, import.meta.url);

/** A module that is started or loaded by its URL. `path`: of its source, such as `lib/mcp/child.ts`. */
export function moduleUrl(path: string): URL {
  return new URL(IS_BUILT ? path.replace(/\.ts$/, ".js") : path, ROOT);
}

/**
 * Paths of what a process reads to load its modules: these files and folders of the source, none in the
 * binary. In the built form those of them that are there, or all of it for whoever shares modules.
 */
export function sourcePaths(paths: readonly string[], { shares = false } = {}): string[] {
  if (Deno.build.standalone) return [];
  const whole = IS_BUILT && shares ? [""] : paths;
  const there = IS_BUILT
    ? whole.filter((path) => !path.endsWith(".ts") && !isBundled(path))
    : whole;
  return there.map((path) => pathOf(new URL(path, ROOT)));
}

/** The path of a `file:` URL; on Windows as `C:\folder\file`. */
export function pathOf({ pathname }: URL, os = Deno.build.os): string {
  const path = decodeURIComponent(pathname);
  return os === "windows" ? path.replace(/^\//, "").replaceAll("/", "\\") : path;
}

/** A folder that no process starts in: the built form has it in what imports it. */
function isBundled(path: string): boolean {
  return path === "lib/rpc";
}
