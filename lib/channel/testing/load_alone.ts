/**
 * What a module is by itself: what it brings with it, and whether it loads where nothing is allowed.
 *
 * @module
 */

import { lockedFlags } from "../../packages/locked_packages.ts";

/** What a module brings with it when it runs, itself first; literal `import()`s too. */
export async function moduleGraph(module: URL): Promise<string[]> {
  const { success, stdout, stderr } = await deno("info", "--json", ...lockedFlags(), module.href);
  if (!success) throw new Error(`Cannot read the imports of ${module.href}: ${stderr}`);
  const { modules } = JSON.parse(stdout) as {
    modules: { specifier: string; dependencies?: { code?: { specifier: string } }[] }[];
  };
  const bySpecifier = new Map(modules.map((one) => [one.specifier, one]));
  const seen = new Set([module.href]);
  for (const specifier of seen) {
    for (const { code } of bySpecifier.get(specifier)?.dependencies ?? []) {
      if (code !== undefined) seen.add(code.specifier);
    }
  }
  return [...seen];
}

/** Runs a module with no permission at all. Resolves with why it fails; undefined if it does not. */
export async function loadAlone(module: URL): Promise<string | undefined> {
  const { success, stderr } = await deno(
    "run",
    "--no-prompt",
    "--cached-only",
    ...lockedFlags(),
    "--no-check",
    module.href,
  );
  return success ? undefined : firstLine(stderr);
}

async function deno(...args: string[]): Promise<{
  success: boolean;
  stdout: string;
  stderr: string;
}> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    env: { NO_COLOR: "1" },
  }).output();
  const text = (bytes: Uint8Array<ArrayBuffer>) => new TextDecoder().decode(bytes);
  return { success, stdout: text(stdout), stderr: text(stderr) };
}

/** The line that says what went wrong. */
function firstLine(stderr: string): string {
  const lines = stderr.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.find((line) => line.includes("rror:")) ?? lines[0] ?? "it failed without words";
}
