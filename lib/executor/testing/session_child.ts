/**
 * A session that does what it is asked to, for tests of what one can do to the authority.
 *
 * @module
 */

import { encodeFrame } from "../../rpc/frames.ts";
import { serveSession } from "../../rpc/serve_session.ts";

/** Writes bytes past the protocol. */
function say(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

const sayFrame = (value: unknown) => say(encodeFrame(value));

serveSession(async (io) => {
  const { begin } = io.params as { begin?: string };
  if (begin === "throw") throw new Error("cannot begin: no");
  if (begin === "hang") await new Promise(() => setInterval(() => {}, 1_000));
  if (begin === "exit") Deno.exit(9);
  if (begin === "garbage") say(new TextEncoder().encode("hello, this is no frame"));
  if (begin === "ask") await io.request("add", [1, 2]);
  return {
    async onRequest(method, params, { signal, progress }) {
      switch (method) {
        case "echo":
          return params;
        case "params":
          return io.params;
        case "fail":
          throw new Error(String(params));
        case "ask": {
          const [asked, given] = params as [string, unknown];
          return io.request(asked, given);
        }
        case "askMany": {
          const many = Array.from(
            { length: params as number },
            (_, n) => io.request("add", [n, n]),
          );
          return (await Promise.allSettled(many)).map(({ status }) => status);
        }
        case "askAborted": {
          const asked = io.request("wait", null, { timeoutMs: params as number });
          return asked.then(() => "answered", (error: Error) => error.message);
        }
        case "progress":
          for (let at = 0; at < (params as number); at++) progress(`step ${at}`);
          return "done";
        case "hang":
          return new Promise((_, reject) =>
            signal.addEventListener("abort", () => {
              io.notify("aborted", method);
              reject(new Error("stopped"));
            })
          );
        case "deaf":
          return new Promise(() => {});
        case "spin":
          for (;;);
        case "exit":
          return Deno.exit(params as number);
        case "kill":
          return Deno.kill(Deno.pid, "SIGKILL");
        case "eat": {
          const kept: unknown[] = [];
          for (;;) kept.push(new Array(1_000_000).fill(kept.length));
        }
        case "notify":
          for (let at = 0; at < (params as number); at++) io.notify("flood", at);
          return "told";
        case "flood": {
          const frame = encodeFrame({ type: "notice", name: "flood", data: null });
          const many = new Uint8Array(frame.length * 1_000);
          for (let at = 0; at < 1_000; at++) many.set(frame, at * frame.length);
          for (;;) say(many);
        }
        case "large":
          return "x".repeat(params as number);
        case "sayFrame":
          sayFrame(params);
          return "said";
        case "sayBytes":
          say(Uint8Array.from(params as number[]));
          return "said";
        case "env":
          return Deno.env.toObject();
        case "readFile":
          return Deno.readTextFile(params as string);
        case "writeFile":
          return Deno.writeTextFile(params as string, "written").then(() => "written");
        case "run": {
          const [path, ...args] = params as string[];
          const { stdout, stderr, code } = await new Deno.Command(path!, { args }).output();
          const decoder = new TextDecoder();
          return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
        }
        case "start": {
          const [path, ...args] = params as string[];
          new Deno.Command(path!, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn();
          return "started";
        }
        default:
          throw new Error(`unknown: ${method}`);
      }
    },
  };
});
