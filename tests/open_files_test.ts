/** Floods of connections that are more than the files that a gateway may open, over its real ports. */

import { assertEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { connect, type Socket } from "node:net";
import { freePort } from "./support/free_port.ts";
import { makeHome, programArgs } from "./support/home.ts";
import { needs } from "./support/needs.ts";

const MAX_FILES = 240;
const FLOOD = 400;
/** More than both ports let in at once, of so few files. */
const MAX_LET_IN = MAX_FILES / 2;

/** Fewer than may wait to be accepted. */
const MIN_WAITING = 20;

/** For the whole test: a machine may be slow, but nothing may hang. */
const DEADLINE_MS = 120_000;

/** What the test waits for fails, and says what it was, when the time is up. */
function createDeadline(): {
  wait<T>(what: string, promise: Promise<T>): Promise<T>;
  signal: AbortSignal;
  [Symbol.dispose](): void;
} {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), DEADLINE_MS);
  const { signal } = controller;
  return {
    signal,
    wait(what, promise) {
      const late = Promise.withResolvers<never>();
      const end = () => late.reject(new Error(`Waited for ${what}, until the time was up`));
      if (signal.aborted) end();
      signal.addEventListener("abort", end);
      return Promise.race([promise, late.promise]).finally(() =>
        signal.removeEventListener("abort", end)
      );
    },
    [Symbol.dispose]: () => clearTimeout(timer),
  };
}

/** Connections that were begun at one moment, and stay with a request that never ends. */
function flood(port: number) {
  const sockets: Socket[] = [];
  const waiting = Promise.withResolvers<void>();
  const turnedAway = Promise.withResolvers<void>();
  let connected = 0;
  let closed = 0;
  for (let at = 0; at < FLOOD; at++) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {});
    socket.on("connect", () => {
      if (++connected === MIN_WAITING) waiting.resolve();
    });
    socket.on("close", () => {
      if (++closed === FLOOD - MAX_LET_IN) turnedAway.resolve();
    });
    socket.resume();
    // One that says nothing may never learn that nobody is there: the system drops what it has not
    // finished opening without a word.
    socket.write("GET / HTTP/1.1\r\n");
    sockets.push(socket);
  }
  return {
    /** Resolves when the system has taken some of them. */
    waiting: waiting.promise,
    /** Resolves when those that are too many are gone. */
    turnedAway: turnedAway.promise,
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

Deno.test({
  ...needs(
    "more connections in one moment than there may be open files do not end a gateway's ports",
    "Unix",
  ),
  async fn() {
    using deadline = createDeadline();
    // A connection that is kept would answer where the port does not.
    using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
    const [web, api] = [freePort(), freePort()];
    // The right to listen is for the ports that are configured.
    await using home = await makeHome({
      channels: { websocket: { port: web } },
      api: { enabled: true, port: api },
    });
    const gateway = new Deno.Command("/bin/sh", {
      args: [
        "-c",
        `ulimit -n ${MAX_FILES}; exec "$@"`,
        "sh",
        Deno.execPath(),
        ...programArgs(),
        "gateway",
        "--json",
      ],
      cwd: home.dir,
      clearEnv: true,
      env: {
        HOME: home.dir,
        SERVICE_HOME: `${home.dir}/home`,
        PATH: Deno.env.get("PATH") ?? "",
        DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
        NO_COLOR: "1",
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    let log = "";
    const logged = gateway.stderr.pipeThrough(new TextDecoderStream())
      .pipeTo(new WritableStream({ write: (text) => void (log += text) }));
    const lines = gateway.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream()).getReader();

    async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
      while (!await holds()) {
        await deadline.wait(what, new Promise((resolve) => setTimeout(resolve, 20)));
      }
    }

    /** The status of /health; 0 when there is no connection. */
    async function health(port: number): Promise<number> {
      const asked = fetch(`http://127.0.0.1:${port}/health`, { client, signal: deadline.signal });
      const answer = await deadline.wait(`an answer at port ${port}`, asked.catch(() => undefined));
      await answer?.body?.cancel();
      return answer?.status ?? 0;
    }

    try {
      const { value } = await deadline.wait("the gateway's first line", lines.read());
      const { wsUrl, apiUrl } = JSON.parse(value ?? "{}");
      assertEquals([wsUrl, apiUrl].map((url) => new URL(url).port), [`${web}`, `${api}`]);
      for (const [port, other] of [[web, api], [api, web], [web, api]] as const) {
        {
          // All that can wait do, and are there at once.
          gateway.kill("SIGSTOP");
          using connections = flood(port);
          const { waiting, turnedAway } = connections;
          await deadline.wait(`connections to port ${port}`, waiting);
          gateway.kill("SIGCONT");
          await deadline.wait(`connections to port ${port} to be turned away`, turnedAway);
          await until(`port ${other} to answer`, async () => await health(other) === 200);
        }
        // Until the gateway has noticed that they left, nobody else is let in.
        await until(`port ${port} to answer`, async () => await health(port) === 200);
      }
      for (const setting of ["api", "channels.websocket"]) {
        const said = `refuses others setting=${setting}`;
        await until(`the log to say "${said}"`, () => log.includes(said));
      }
    } catch (error) {
      throw new Error(`${error}, with the log:\n${log.slice(-4_000)}`, { cause: error });
    } finally {
      gateway.kill("SIGKILL");
      await Promise.all([gateway.status, logged]);
      await lines.cancel();
    }
  },
});
