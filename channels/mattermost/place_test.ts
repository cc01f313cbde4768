import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeMattermost } from "./testing/fake_mattermost.ts";

const folder = new URL("./", import.meta.url);

Deno.test("mattermost works in a place that may reach its server, and listen for clicks, alone", async () => {
  const openPlatform = () => FakeMattermost.open({ hasActions: true });
  assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
});
