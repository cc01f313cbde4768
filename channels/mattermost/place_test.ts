import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";

const folder = new URL("./", import.meta.url);

Deno.test("mattermost works in a place that may reach its server, and listen for clicks, alone", async () => {
  const probe = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = probe.addr as Deno.NetAddr;
  probe.close();
  const openPlatform = async () => {
    const server = await FakeMattermost.open();
    Object.assign(server.section, { actionsPort: port, actionsHost: "127.0.0.1" });
    return server;
  };
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});
