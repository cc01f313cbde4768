/**
 * Homes for tests: a folder of their own each, the program run from source as a user would run it,
 * with nothing of this machine's environment but what is named here.
 *
 * @module
 */

import { existsSync } from "node:fs";
import { toFileUrl } from "@std/path";
import { TextLineStream } from "@std/streams/text-line-stream";
import { gatewayCacheOf, giveGatewayCache, keepGatewayCache } from "./gateway_cache.ts";
import { BUILT_FLAGS, LAUNCHER_FLAGS } from "../../lib/base/entries.ts";
import { lockedFlags, projectFiles } from "../../lib/packages/locked_packages.ts";

/** Folder of the checkout. */
export const ROOT = new URL("../../", import.meta.url).pathname;

/** Folder of the program that tests run: the built form where the gate has made one, else the checkout. */
const PROGRAM = Deno.env.get("SERVICE_TEST_BUILT") ?? ROOT;

/** Flags with which the program runs from source; the same as those of the tasks. */
export const RUN_FLAGS = runFlags(ROOT);

function runFlags(root: string): string[] {
  const locked = lockedFlags(projectFiles(toFileUrl(root)));
  return ["run", ...LAUNCHER_FLAGS, "--cached-only", ...locked, "-P=service"];
}

/** What Deno is given to run the program of a folder, sources or the built form, as homes run it. */
export function programArgs(program = PROGRAM): string[] {
  if (!isBuilt(program)) return [...runFlags(program), `${program}cli/main.ts`];
  const config = ["--config", `${program}deno.json`];
  return ["run", ...BUILT_FLAGS, ...config, "-P=service", `${program}cli/main.js`];
}

function isBuilt(program: string): boolean {
  return existsSync(`${program}cli/main.js`);
}

/** A home in a folder of its own. */
export interface TestHome extends AsyncDisposable {
  readonly dir: string;
  /** Writes config.json. */
  configure(config: unknown): Promise<void>;
  /** Runs a command to its end. */
  run(args: string[], options?: RunOptions): Promise<Finished>;
  /** Starts `serve` (or another long-running command) and waits until it is up. */
  start(args?: string[], options?: RunOptions): Promise<Running>;
  /** Starts a command and leaves it to the test. */
  spawn(args: string[], options?: RunOptions): Deno.ChildProcess;
}

/** What a command is given beside its arguments. */
export interface RunOptions {
  stdin?: string;
  env?: Record<string, string>;
}

/** A command that has ended. */
export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

/** A service that is up. */
export interface Running extends AsyncDisposable {
  readonly pid: number;
  readonly apiUrl: string;
  /** Address of a gateway's WebSocket server. */
  readonly wsUrl: string;
  readonly process: Deno.ChildProcess;
  /** What it has written to standard error so far. */
  readonly log: () => string;
  /** SIGTERM, and its end. */
  stop(): Promise<number>;
  /** kill -9, and its end. */
  kill(): Promise<void>;
}

/** A configuration whose gateway takes a free port: many tests run at once. */
function withFreePort(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const config = value as { channels?: { websocket?: Record<string, unknown> } };
  const websocket = { port: 0, ...config.channels?.websocket };
  return { ...config, channels: { ...config.channels, websocket } };
}

function exists(path: string): Promise<boolean> {
  return Deno.stat(path).then(() => true, () => false);
}

/** Makes a home of a folder's program, removed with all that runs in it when disposed. */
export async function makeHome(config?: unknown, program = PROGRAM): Promise<TestHome> {
  const dir = await Deno.makeTempDir({ prefix: "service-test-" });
  const children = new Set<Deno.ChildProcess>();
  const cache = isBuilt(program) ? gatewayCacheOf(program) : undefined;

  function command(args: string[], { stdin, env }: RunOptions): Deno.Command {
    return new Deno.Command(Deno.execPath(), {
      args: [...programArgs(program), ...args],
      cwd: dir,
      clearEnv: true,
      env: {
        HOME: dir,
        SERVICE_HOME: `${dir}/home`,
        PATH: Deno.env.get("PATH") ?? "",
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        NO_COLOR: "1",
        ...env,
      },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    });
  }

  function spawn(args: string[], options: RunOptions = {}): Deno.ChildProcess {
    const child = command(args, options).spawn();
    children.add(child);
    child.status.finally(() => children.delete(child));
    return child;
  }

  const home: TestHome = {
    dir,
    spawn,
    async configure(value) {
      await Deno.mkdir(`${dir}/home`, { recursive: true });
      const text = JSON.stringify(withFreePort(value), null, 2);
      await Deno.writeTextFile(`${dir}/home/config.json`, text);
    },
    async run(args, options = {}) {
      if (cache !== undefined) await giveGatewayCache(cache, `${dir}/home`);
      const child = spawn(args, options);
      const input = options.stdin === undefined ? undefined : feed(child, options.stdin);
      const { code, stdout, stderr } = await child.output();
      await input;
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    },
    async start(args = ["serve", "--port", "0", "--json"], options = {}) {
      if (args[0] === "gateway" && !await exists(`${dir}/home/config.json`)) {
        await home.configure({});
      }
      if (cache !== undefined) await giveGatewayCache(cache, `${dir}/home`);
      const child = spawn(args, options);
      let log = "";
      const logged = (async () => {
        for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
      })();
      const lines = child.stdout
        .pipeThrough(new TextDecoderStream()).pipeThrough(new TextLineStream()).getReader();
      const { value, done } = await lines.read();
      if (done) {
        await logged;
        throw new Error(`The service did not start: ${log}`);
      }
      const { pid, apiUrl, wsUrl } = JSON.parse(value);
      const drained = (async () => {
        while (!(await lines.read()).done);
      })();
      async function ended(): Promise<number> {
        const { code } = await child.status;
        await Promise.all([drained, logged]);
        return code;
      }
      return {
        pid,
        apiUrl,
        wsUrl,
        process: child,
        log: () => log,
        async stop() {
          child.kill("SIGTERM");
          const code = await ended();
          if (cache !== undefined) await keepGatewayCache(cache, `${dir}/home`);
          return code;
        },
        async kill() {
          child.kill("SIGKILL");
          await ended();
        },
        async [Symbol.asyncDispose]() {
          try {
            child.kill("SIGKILL");
          } catch {
            // It has ended.
          }
          await ended();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      for (const child of children) child.kill("SIGKILL");
      await Promise.all([...children].map((child) => child.status));
      await Deno.remove(dir, { recursive: true });
    },
  };
  if (config !== undefined) await home.configure(config);
  return home;
}

async function feed(child: Deno.ChildProcess, text: string): Promise<void> {
  const writer = child.stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // It ended without reading everything, which the test judges by its exit code.
  }
}
