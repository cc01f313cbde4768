import { assertEquals } from "@std/assert";
import { homePaths } from "./home_paths.ts";
import { withService } from "./open_service.ts";
import { makePrivateDir } from "../lib/base/private_dir.ts";
import { endpointAt, listenLocal } from "../lib/local/endpoint.ts";
import { serveGuest } from "../lib/local/server.ts";

Deno.test("withService() asks the service that runs, and leaves the home alone", async () => {
  const home = await Deno.makeTempDir();
  const variables = { HOME: home, SERVICE_HOME: home };
  const paths = homePaths({}, (name) => variables[name as keyof typeof variables]);
  await makePrivateDir(paths.socketDir);
  const listener = await listenLocal(endpointAt(paths.socket));
  const served = (async () => {
    for await (const connection of listener.connections) {
      await serveGuest(connection, {
        version: "1",
        key: listener.key,
        handlers: { operate: () => Promise.resolve({ done: true }) } as never,
      });
    }
  })();
  const before = Deno.env.get("SERVICE_HOME");
  Deno.env.set("SERVICE_HOME", home);
  try {
    const operation = { op: "service.status" } as never;
    const answer = await withService(
      { lastGood: false, json: false, verbose: false },
      (client) => client.call("operate", operation),
    );
    assertEquals(answer as unknown, { done: true });
    const left = Array.from(Deno.readDirSync(home), ({ name }) => name).toSorted();
    assertEquals(left, paths.socketDir.startsWith(home) ? ["run"] : []);
  } finally {
    if (before === undefined) Deno.env.delete("SERVICE_HOME");
    else Deno.env.set("SERVICE_HOME", before);
    listener.close();
    await served;
    await Deno.remove(home, { recursive: true });
  }
});
