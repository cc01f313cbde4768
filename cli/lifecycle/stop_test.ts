import { assertEquals, assertRejects } from "@std/assert";
import { acquireHome } from "../../lib/authority/home_lock.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { endpointAt, listenLocal } from "../../lib/local/endpoint.ts";
import { serveGuest } from "../../lib/local/server.ts";
import { memoryOutput } from "../testing/memory_output.ts";
import { writeRecord } from "./record.ts";
import { needs } from "../../tests/support/needs.ts";
import { stopService } from "./stop.ts";

Deno.test({
  ...needs(
    "stopService() ends no process that has the number of a service in another container",
    "Linux",
    "sleep",
  ),
  async fn() {
    await using home = await tempHome();
    const { paths } = home;
    const lock = await acquireHome(paths);
    const bystander = new Deno.Command("sleep", { args: ["60"] }).spawn();
    const { pid } = bystander;
    // As a service says it in a container that shares the home.
    await writeRecord(paths, { pid, startedAt: 0, args: ["gateway"], cwd: "/", drainTimeoutS: 0 });
    await Deno.mkdir(paths.socketDir, { recursive: true });
    const listener = await listenLocal(endpointAt(paths.socket));
    const handlers = { operate: () => Promise.resolve({ pid, ws_url: "ws://x/" }) } as never;
    const serving = (async () => {
      for await (const streams of listener.connections) {
        await serveGuest(streams, { version: "1.0.0", handlers });
      }
    })();
    const { out } = memoryOutput();
    for (const force of [false, true]) {
      const error = await assertRejects(
        () => stopService(paths, { force, timeoutS: 0.1 }, out),
        ServiceError,
        "another container",
      );
      assertEquals(error.code, "home_busy");
    }
    listener.close();
    await serving;
    bystander.kill("SIGUSR1");
    assertEquals((await bystander.status).signal, "SIGUSR1");
    if ("release" in lock) lock.release();
  },
});
