/**
 * A child in the place of the one that reads documents; does what its document says, for tests of what
 * such a child can do.
 *
 * @module
 */

import { type ChildRun, serveChild } from "../../executor/serve_child.ts";
import { prepareGlobals } from "../../documents/prepare_globals.ts";

const MIB = 1024 * 1024;

const TRIES: Record<string, (port: number) => unknown> = {
  "read a file": () => Deno.readTextFileSync("/etc/passwd"),
  "read its own source": () => Deno.readTextFileSync(new URL(import.meta.url)),
  "list a folder": () => [...Deno.readDirSync("/")],
  "write a file": () => Deno.writeTextFileSync("/tmp/made-by-a-document", ""),
  "connect": (port) => Deno.connect({ hostname: "127.0.0.1", port }),
  "listen": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  "fetch": (port) => fetch(`http://127.0.0.1:${port}/`),
  "look up": () => Deno.resolveDns("localhost", "A"),
  "run": () => new Deno.Command("/bin/true").outputSync(),
  "run with node:child_process": async () => {
    const { execFileSync } = await import("node:child_process");
    return execFileSync("/bin/true");
  },
  "read with node:fs": async () => (await import("node:fs")).readFileSync("/etc/passwd"),
  "read a variable": () => Deno.env.get("HOME"),
  "load a library": () => Deno.dlopen("/usr/lib/x86_64-linux-gnu/libc.so.6", {}),
  "ask the system": () => Deno.hostname(),
  "import a file": () => import("file:///etc/" + "passwd"),
  "import from the network": (port) => import(`http://127.0.0.1:${port}/mod.ts`),
  "import a package that is no dependency": () => import("npm:chalk" + "@5"),
};

const ACTS: Record<string, (argument: string) => unknown> = {
  /** What comes of each attempt: the name of its error, or "done". */
  async try(port) {
    const outcomes: Record<string, string> = {};
    for (const [name, attempt] of Object.entries(TRIES)) {
      try {
        await attempt(Number(port));
        outcomes[name] = "done";
      } catch (error) {
        outcomes[name] = (error as Error).name;
      }
    }
    return answer(JSON.stringify(outcomes));
  },
  // A plain name of the project's list: it resolves without any permission.
  import: async () => answer(typeof (await import("fflate")).zipSync),
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
  spin: () => {
    for (;;);
  },
  "eat heap": () => {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(100_000).fill(kept.length));
  },
  "eat buffers": () => {
    const kept: Uint8Array[] = [];
    for (;;) kept.push(new Uint8Array(64 * MIB).fill(1));
  },
  async "leave a promise behind"() {
    prepareGlobals();
    Promise.reject(new Error("nobody awaits it"));
    await new Promise((resolve) => setTimeout(resolve));
    return answer("still here");
  },
  die: () => Deno.exit(9),
  throw: () => {
    throw new Error("an error of the program");
  },
  "answer nonsense": () => "no JSON",
  "answer another type": () => JSON.stringify({ mediaType: "text/html", text: "x" }),
  "answer another code": () => JSON.stringify({ code: "internal", message: "x" }),
  "answer too much": () => answer("x".repeat(500_000)),
  "answer a path": () => JSON.stringify({ mediaType: "application/pdf", text: "x", path: "/" }),
};

function answer(text: string): string {
  return JSON.stringify({ mediaType: "application/pdf", text });
}

const run: ChildRun = async ({ bytes }) => {
  const [name = "", argument = ""] = new TextDecoder().decode(bytes).split(":");
  const act = ACTS[name];
  const output = act === undefined ? answer(`${bytes!.length}`) : await act(argument);
  return { type: "result", output: output as string };
};

if (import.meta.main) serveChild(run);
