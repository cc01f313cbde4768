// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Makes the built form: one file for each module that a process or a Worker starts with, which holds all
 * that it imports. It starts faster than the sources, and needs nothing but Deno.
 *
 *     deno task build [folder]
 *
 * Code that several of them import stands in files that they share; the modules of children are whole in
 * themselves, since a child sees no other file.
 *
 * @module
 */

import { dirname, fromFileUrl, join, relative, resolve } from "@std/path";
import { CHANNELS } from "../channels/mod.ts";
import { BUILT_FLAGS, CHILD_ENTRIES, ENTRIES, PACKAGE_CONDITIONS } from "../lib/base/entries.ts";
import { SAY_TYPED_AS } from "../cli/installation/launcher.ts";
import { NOT_BUNDLED } from "../lib/packages/wanted_packages.ts";
import { openRegistry } from "../lib/registry/open_registry.ts";
import { ROOT } from "../lib/base/layout.ts";
import { FETCHED_FOLDER } from "../lib/packages/locked_packages.ts";
import { APP_FOLDER, buildApp } from "../lib/browser_app/build_app.ts";

/** What is built where nothing else is said, relative to the program's folder. */
export const BUILT_FOLDER = "dist";

/** What `lib/base/layout.ts` says of where it is, as the bundler writes it. */
const TO_ROOT = /\bTO_ROOT = "(?:\.\.\/)+"/;

/** How the bundler gives packages their `require`. */
const REQUIRE =
  /^import \{ createRequire as (__deno_\w+) \} from "node:module";\nvar __require = \1\(import\.meta\.url\);$/m;

/** The same, but node:module is loaded by the first use: it takes 16 ms, and few starts require anything. */
const LAZY_REQUIRE = `var __made;
var __make = () => __made ??= globalThis.process.getBuiltinModule("node:module").createRequire(import.meta.url);
var __require = new Proxy(() => {}, {
  apply: (_, __, args) => __make()(...args),
  get: (_, key) => __make()[key],
});`;

/** What its Deno is given, as a shell reads it. `folder`: of the built form, up to the separator. */
export function builtArgs(folder: string): string {
  const flags = `run ${BUILT_FLAGS.join(" ")} --config "${folder}deno.json" -P=service`;
  return `${flags} "${folder}cli/main.js"`;
}

/** Ends the unpacking of a file that holds the built form. */
export const SETTLE_MODULE = "release/settle.js";

/** Starts the built form. */
const LAUNCHER = `#!/bin/sh
folder=$(dirname "$(readlink -f "$0")")
${SAY_TYPED_AS}exec deno ${builtArgs("$folder/")} "$@"
`;

/**
 * Builds into a folder, in the place of what was built there. Rejects with what the bundler says, and for
 * a folder that holds anything else.
 */
export async function build(folder: string): Promise<void> {
  checkFolder(folder);
  await Deno.mkdir(dirname(folder), { recursive: true });
  // Whoever runs what is there goes on with whole files.
  const made = await Deno.makeTempDir({ dir: dirname(folder), prefix: ".build-" });
  try {
    const { usable } = await openRegistry(CHANNELS);
    const inService = new Set(
      [...usable].filter(([, { descriptor }]) => descriptor.capabilities.includes("in_service"))
        .map(([name]) => name),
    );
    const channelModules = (isInService: boolean) =>
      CHANNELS.filter(({ folder }) => inService.has(folder) === isInService)
        .flatMap(({ modules }) => Object.values(modules))
        .map((url) => url.slice(ROOT.href.length));
    // What runs in one process shares its modules, and their classes, with what that has loaded.
    const processes = [
      [ENTRIES.launcher],
      [ENTRIES.gateway, ...channelModules(true)],
      [ENTRIES.channel, ...channelModules(false)],
    ];
    const bundleProcess = (paths: readonly string[]) =>
      bundle(paths, [
        "--code-splitting",
        ...["--outdir", join(made, paths.length === 1 ? dirname(paths[0]!) : "")],
      ]);
    // The first one of a machine fetches the bundler: a second beside it would find half of that.
    await bundleProcess(processes[0]!);
    await Promise.all([
      buildApp(join(made, APP_FOLDER), ROOT),
      ...processes.slice(1).map(bundleProcess),
      ...[...new Set(Object.values(CHILD_ENTRIES)), SETTLE_MODULE.replace(/\.js$/, ".ts")].map((
        path,
      ) => bundle([path], ["--output", join(made, path.replace(/\.ts$/, ".js"))])),
    ]);
    await adjust(made);
    const { unstable, permissions } = JSON.parse(
      await Deno.readTextFile(new URL("deno.json", ROOT)),
    );
    await Deno.writeTextFile(
      join(made, "deno.json"),
      JSON.stringify({ nodeModulesDir: "none", unstable, permissions }, null, 2) + "\n",
    );
    // What it fetches has the versions and hashes of the sources.
    const fetched = join(made, FETCHED_FOLDER);
    await Deno.mkdir(fetched);
    const config = { nodeModulesDir: "none", lock: false, importMap: "./imports.json", unstable };
    await Deno.writeTextFile(join(fetched, "deno.json"), JSON.stringify(config, null, 2) + "\n");
    for (const name of ["imports.json", "deno.lock"]) {
      await Deno.copyFile(new URL(name, ROOT), join(fetched, name));
    }
    await Deno.writeTextFile(join(made, "service"), LAUNCHER, { mode: 0o755 });
    await Deno.chmod(made, 0o755);
    await Deno.remove(folder, { recursive: true }).catch((error) => {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    });
    await Deno.rename(made, folder);
  } catch (error) {
    await Deno.remove(made, { recursive: true }).catch(() => {});
    throw error;
  }
}

/** It will be replaced, so it has to be empty, or the work of an earlier build. */
function checkFolder(folder: string): void {
  let names: string[];
  try {
    names = [...Deno.readDirSync(folder)].map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return;
    throw error;
  }
  if (names.length === 0 || isLauncher(join(folder, "service"))) return;
  throw new Error(
    `Cannot build into ${JSON.stringify(folder)}: it holds ${JSON.stringify(names[0])} and is no ` +
      "earlier build; expected an empty folder, or one that is not there",
  );
}

/** Whether a file is what an earlier build has written; other projects have a `service` too. */
function isLauncher(path: string): boolean {
  try {
    return Deno.readTextFileSync(path).includes('"$folder/cli/main.js" "$@"');
  } catch {
    return false;
  }
}

async function bundle(paths: readonly string[], options: readonly string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform", "deno", "--lock=deno.lock", "--frozen"],
      ...NOT_BUNDLED.flatMap((each) => ["--external", each.replace(/^npm:|@[^@]+$/g, "")]),
      ...options,
      ...paths,
    ],
    cwd: ROOT,
    env: { DENO_CONDITIONS: PACKAGE_CONDITIONS, NO_COLOR: "1" },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/**
 * Says to each file that knows the layout how far up the folder of the program is from there, and has
 * those of packages load node:module when they need it.
 */
async function adjust(folder: string): Promise<void> {
  let told = 0;
  let lazy = 0;
  for await (const path of scripts(folder)) {
    const text = await Deno.readTextFile(path);
    const up = "../".repeat(relative(folder, path).split("/").length - 1);
    const adjusted = text.replace(TO_ROOT, `TO_ROOT = "./${up}"`).replace(REQUIRE, LAZY_REQUIRE);
    if (adjusted === text) continue;
    await Deno.writeTextFile(path, adjusted);
    if (TO_ROOT.test(text)) told += 1;
    if (REQUIRE.test(text)) lazy += 1;
  }
  if (told === 0) throw new Error("No file says where the program is: see lib/base/layout.ts");
  if (lazy === 0) throw new Error("No file has the bundler's require: see REQUIRE in build.ts");
}

async function* scripts(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) yield* scripts(join(folder, name));
    else if (name.endsWith(".js")) yield join(folder, name);
  }
}

if (import.meta.main) {
  const folder = resolve(Deno.args[0] ?? fromFileUrl(new URL(BUILT_FOLDER, ROOT)));
  await build(folder).catch((error: Error) => {
    console.error(`error: ${error.message}`);
    Deno.exit(1);
  });
}
