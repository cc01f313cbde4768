/**
 * A session that does what it is asked to, for tests of what one can do to the authority.
 *
 * @module
 */

import { childPeer } from "../../rpc/child_peer.ts";
import { encodeFrame } from "../../rpc/frames.ts";
import { TRY_SESSION } from "./session_kind.ts";

/** Writes bytes past the protocol. */
function say(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

let started: unknown;

const peer = childPeer(TRY_SESSION.child, TRY_SESSION.authority, {
  calls: {
    async start(params) {
      started = params;
      const { begin } = params as { begin?: string };
      if (begin === "throw") throw new Error("cannot begin: no");
      if (begin === "hang") await new Promise(() => setInterval(() => {}, 1_000));
      if (begin === "exit") Deno.exit(9);
      if (begin === "garbage") say(new TextEncoder().encode("hello, this is no frame"));
      if (begin === "ask") await peer.call("add", [1, 2]);
    },
    echo: (params) => params,
    params: () => started,
    fail(params) {
      throw new Error(String(params));
    },
    ask(params): Promise<unknown> {
      const [asked, given] = params as ["add", unknown];
      return peer.call(asked, given);
    },
    async askMany(params): Promise<string[]> {
      const many = Array.from({ length: params as number }, (_, n) => peer.call("add", [n, n]));
      return (await Promise.allSettled(many)).map(({ status }) => status);
    },
    askAborted: (params): Promise<string> =>
      peer.call("wait", null, { timeoutMs: params as number })
        .then(() => "answered", (error: Error) => error.message),
    progress(params, { progress }) {
      for (let at = 0; at < (params as number); at++) void progress(`step ${at}`);
      return "done";
    },
    hang: (_, { signal }) =>
      new Promise((_, reject) =>
        signal.addEventListener("abort", () => {
          peer.notify("aborted", "hang");
          reject(new Error("stopped"));
        })
      ),
    deaf: () => new Promise(() => {}),
    spin() {
      for (;;);
    },
    exit: (params) => Deno.exit(params as number),
    kill: () => Deno.kill(Deno.pid, "SIGKILL"),
    eat() {
      const kept: unknown[] = [];
      for (;;) kept.push(new Array(1_000_000).fill(kept.length));
    },
    flood() {
      const [frame] = encodeFrame({ type: "notice", name: "flood", data: null });
      const many = new Uint8Array(frame!.length * 1_000);
      for (let at = 0; at < 1_000; at++) many.set(frame!, at * frame!.length);
      for (;;) say(many);
    },
    large: (params) => "x".repeat(params as number),
    sayFrame(params) {
      encodeFrame(params as object).forEach(say);
      return "said";
    },
    sayBytes(params) {
      say(Uint8Array.from(params as number[]));
      return "said";
    },
    readFile: (params) => Deno.readTextFile(params as string),
    env: () => Deno.env.toObject(),
    async run(params) {
      const [path, ...args] = params as string[];
      const { stdout, stderr, code } = await new Deno.Command(path!, { args }).output();
      const decoder = new TextDecoder();
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
    },
  },
  notices: {},
});
