import { assertEquals } from "@std/assert";
import { checkChannel, testChannel } from "../../lib/channel/testing/mod.ts";
import { FakeSlack } from "./testing/fake_slack.ts";

const folder = new URL("./", import.meta.url);

testChannel({
  folder,
  openPlatform: () => FakeSlack.open(),
  exempt: {
    nothing_left:
      "the WebSocket client of the SDK has a tick of half a second, which ends by itself; " +
      "in the mode http, and behind that tick, the tests below see what is left open",
  },
});

Deno.test("slack leaves nothing open in the mode http", async () => {
  const findings = await checkChannel({
    folder,
    openPlatform: () => FakeSlack.open({ mode: "http" }),
  }, [
    "start_blocks",
    "stop_while_starting",
    "nothing_left",
    "hears",
    "hears_anything",
    "keeps_all",
    "allow_from",
    "redelivery",
    "own_messages",
    "bots",
    "acknowledges",
    "buttons",
    "catch_up",
    "delivers",
    "media",
    "goes_down",
    "secrets",
  ]);
  assertEquals(findings, []);
});

Deno.test("slack leaves nothing open behind its sockets", async () => {
  const findings = await checkChannel({ folder, openPlatform: () => FakeSlack.open() }, [
    "stop_while_starting",
    "nothing_left",
    "goes_down",
  ]);
  assertEquals(findings, []);
  // The tick of the WebSocket client.
  await new Promise((resolve) => setTimeout(resolve, 1_100));
});
