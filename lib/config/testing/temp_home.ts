/**
 * A home in a folder of its own, for tests.
 *
 * @module
 */

import { type HomePaths, resolvePaths } from "../paths.ts";
import type { Env } from "../references.ts";

/** A home, and what is in its environment. */
export interface TempHome extends AsyncDisposable {
  root: string;
  paths: HomePaths;
  env: Env;
  /** Writes the configuration file. */
  write(config: unknown): Promise<void>;
  /** The configuration file's text. */
  read(): Promise<string>;
}

/** Makes a home; it is removed when the test ends. */
export async function tempHome(
  variables: Record<string, string> = {},
  configFlag?: string,
): Promise<TempHome> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "service-" }));
  await Deno.mkdir(`${root}/home`);
  const env = (name: string) => variables[name] ?? { SERVICE_HOME: `${root}/home` }[name];
  const paths = resolvePaths({ configFlag, env, homeDir: root, cwd: () => root });
  return {
    root,
    paths,
    env,
    async write(config) {
      const text = typeof config === "string" ? config : JSON.stringify(config, null, 2) + "\n";
      await Deno.writeTextFile(paths.configFile, text, { mode: 0o600 });
    },
    read: () => Deno.readTextFile(paths.configFile),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}
