/**
 * Bundles the browser app with `deno bundle`: one script for the shell and one for each page, a style
 * sheet, an icon, and the page that names them. Each file is kept compressed alone, as it is sent.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { lockedFlags, projectFiles } from "../packages/locked_packages.ts";

/** Folder of the app, in the sources and in the built form. */
export const APP_FOLDER = "webui/";

/** What the app is made of, relative to the program's folder. */
export const APP_SOURCES: readonly string[] = [APP_FOLDER, "lib/contract/", "imports.json"];

/** The page, which names all other files. */
export const APP_PAGE = "index.html";

/** End of the name of a kept file. */
export const GZIP_SUFFIX = ".gz";

/** Scripts that a page loads itself; every other one is imported. */
const ENTRIES = ["theme.ts", "main.tsx"] as const;

/** A script that the browser starts by itself, under a name that stays. */
const WORKER = "service_worker.ts";

/** The page that is shown first: its script is fetched beside the shell's. */
const FIRST_PAGE = "chat";

/** Pieces of the style sheet, in this order. */
const STYLES = ["tokens.css", "base.css", "shell.css", "pages.css", "forms.css", "chat.css"];

/**
 * Builds into a folder, which is made. `root`: the sources. Rejects with what the bundler says. Packages
 * that are missing are fetched.
 */
export async function buildApp(folder: string, root: URL): Promise<void> {
  const bundled = await Deno.makeTempDir({ prefix: "browser-app-" });
  try {
    await bundle(bundled, root);
    const files = await filesOf(bundled, new URL(APP_FOLDER, root));
    await Deno.mkdir(folder, { recursive: true });
    for (const [name, content] of files) {
      await Deno.writeFile(
        join(folder, name + GZIP_SUFFIX),
        gzipSync(content as Uint8Array, { level: 9 }),
      );
    }
  } finally {
    await Deno.remove(bundled, { recursive: true });
  }
}

async function bundle(outDir: string, root: URL): Promise<void> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...["bundle", "--quiet", "--platform", "browser", "--minify", "--code-splitting"],
      ...lockedFlags(projectFiles(root)),
      ...["--outdir", outDir],
      ...[...ENTRIES, WORKER].map((entry) => APP_FOLDER + entry),
    ],
    cwd: fileURLToPath(root),
    env: { NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
  }).output();
  if (!success) throw new Error(reasonIn(new TextDecoder().decode(stderr)));
}

/** What Deno says, without its own stack, and without a password in the address of a registry. */
function reasonIn(stderr: string): string {
  return stderr.replace(/\n+Stack backtrace:[^]*$/, "").replace(/^error: /, "")
    .replace(/\/\/[^\s/@]*@/g, "//").trim();
}

/** Every file by its name. */
async function filesOf(bundled: string, app: URL): Promise<Map<string, Uint8Array | string>> {
  const files = new Map<string, Uint8Array | string>();
  const values: Record<string, string> = {};
  const scripts = new Map<string, string>();
  for await (const { name } of Deno.readDir(bundled)) {
    scripts.set(name, await Deno.readTextFile(join(bundled, name)));
  }
  for (const entry of ENTRIES) {
    const name = entry.replace(/\.\w+$/, "");
    const text = scripts.get(`${name}.js`)!;
    scripts.delete(`${name}.js`);
    values[name] = hashed(name, "js", text);
    scripts.set(values[name], text);
  }
  for (const [name, text] of scripts) files.set(name, text);
  const styles = STYLES.map((name) => Deno.readTextFile(new URL(`styles/${name}`, app)));
  const style = withoutComments((await Promise.all(styles)).join("\n"));
  const icon = await Deno.readTextFile(new URL("icon.svg", app));
  values.style = hashed("style", "css", style);
  values.icon = hashed("icon", "svg", icon);
  files.set(values.style, style);
  files.set(values.icon, icon);
  const picture = await Deno.readFile(new URL("icon.png", app));
  values.picture = hashed("icon", "png", picture);
  files.set(values.picture, picture);
  const manifest = filled(await Deno.readTextFile(new URL("manifest.json", app)), values);
  values.manifest = hashed("manifest", "json", manifest);
  files.set(values.manifest, manifest);
  const first = [...scripts.keys()].filter((name) => name.startsWith(`${FIRST_PAGE}-`));
  values.preloads = importedBy([values.main!, ...first], scripts)
    .filter((name) => name !== values.main)
    .map((name) => `<link rel="modulepreload" href="/webui/assets/${name}">`).join("\n    ");
  const page = await Deno.readTextFile(new URL(APP_PAGE, app));
  files.set(APP_PAGE, filled(page, values));
  return files;
}

/** These scripts and all that they import at once. */
function importedBy(names: readonly string[], scripts: ReadonlyMap<string, string>): string[] {
  const found = new Set(names);
  for (const name of found) {
    const statics = scripts.get(name)!.matchAll(/(?:from|import)\s*"\.\/([\w.-]+)"/g);
    for (const [, imported] of statics) found.add(imported!);
  }
  return [...found];
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/%(\w+)%/g, (_, name) => values[name]!);
}

function hashed(name: string, ending: string, content: string | Uint8Array): string {
  return `${name}-${createHash("sha256").update(content).digest("hex").slice(0, 10)}.${ending}`;
}

function withoutComments(css: string): string {
  return css.replace(/\/\*[^]*?\*\//g, "").replace(/^\s+/gm, "").replace(/\n+/g, "\n");
}
