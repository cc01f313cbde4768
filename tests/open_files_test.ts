import { assert, assertEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { connect, type Socket } from "node:net";
import { makeHome, RUN_FLAGS } from "./support/home.ts";

const MAIN = new URL("../cli/main.ts", import.meta.url).pathname;
const MAX_FILES = 300;

Deno.test({
  name:
    "more connections than there may be open files, some at a time, do not end a gateway's port",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await makeHome({ channels: { websocket: {} } });
    const gateway = new Deno.Command("/bin/sh", {
      args: [
        "-c",
        `ulimit -n ${MAX_FILES}; exec "$@"`,
        "sh",
        Deno.execPath(),
        ...RUN_FLAGS,
        MAIN,
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
      },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const lines = gateway.stdout.pipeThrough(new TextDecoderStream())
      .pipeThrough(new TextLineStream()).getReader();
    const sockets: Socket[] = [];
    try {
      const { value = "{}" } = await lines.read();
      const { wsUrl } = JSON.parse(value);
      assert(typeof wsUrl === "string", value);
      const { port } = new URL(wsUrl);

      // They stay and say nothing, but for those that are turned away.
      const turnedAway = Promise.withResolvers<void>();
      for (let at = 0; at < MAX_FILES + 100; at++) {
        const socket = connect(Number(port), "127.0.0.1");
        socket.on("error", () => {});
        socket.on("close", () => turnedAway.resolve());
        socket.resume();
        sockets.push(socket);
        // All at one moment are accepted faster than Deno 2.9 gives up those that are turned away.
        await new Promise((resolve) => socket.once("connect", resolve).once("close", resolve));
      }
      const bound = AbortSignal.timeout(20_000);
      const late = new Promise<never>((_, reject) =>
        bound.addEventListener("abort", () => reject(bound.reason))
      );
      await Promise.race([turnedAway.promise, late]);
      const gone = sockets.map((socket) =>
        socket.closed ? Promise.resolve() : new Promise((resolve) => socket.once("close", resolve))
      );
      for (const socket of sockets) socket.destroy();
      await Promise.all(gone);

      // Until the gateway has noticed that they left, it may turn away this one too.
      let status = 0;
      while (status === 0) {
        status = await fetch(`http://127.0.0.1:${port}/health`, { signal: bound }).then(
          async (answer) => {
            await answer.body?.cancel();
            return answer.status;
          },
          (error) => {
            if (bound.aborted) throw error;
            return 0;
          },
        );
      }
      assertEquals(status, 200);
    } finally {
      for (const socket of sockets) socket.destroy();
      gateway.kill("SIGKILL");
      await gateway.status;
      await lines.cancel();
    }
  },
});
