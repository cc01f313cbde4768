import { assertEquals } from "@std/assert";
import { configSchema } from "../../config/schema.ts";
import { accountsAdapter } from "../../channel/management/accounts_adapter.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { testChannel, testRegistry } from "../../registry/testing/test_registry.ts";
import { findSender } from "./find_sender.ts";

const CHAT = testDescriptor({ senderVerified: true });
const MAIL = testDescriptor({ name: "mail", senderVerified: false });
const TEAM = testDescriptor({
  name: "team",
  senderVerified: true,
  management: { multiInstance: true },
});
const REGISTRY = testRegistry([
  testChannel(CHAT),
  testChannel(MAIL),
  testChannel(TEAM, accountsAdapter(TEAM)),
]);

function found(
  section: object,
  { all = {}, name = CHAT.name, runtimeName = name, senderId = "ann" }: {
    all?: object;
    name?: string;
    runtimeName?: string;
    senderId?: string;
  } = {},
) {
  const config = configSchema.parse({
    channels: { ...all, [name]: { enabled: true, ...section } },
  });
  const { isAllowed, stranger } = findSender({ registry: REGISTRY, config }, {
    runtimeName,
    senderId,
  });
  return isAllowed
    ? "allowed"
    : stranger === undefined
    ? "nobody"
    : stranger.instanceId ?? "stranger";
}

Deno.test("findSender() gives codes while nobody may write, unless it is told otherwise", () => {
  assertEquals(found({}), "stranger");
  assertEquals(found({ allowFrom: [] }), "stranger");
  assertEquals(found({ allowFrom: ["bob"] }), "nobody");
  assertEquals(found({ allowFrom: ["bob"], pairing: "on" }), "stranger");
  assertEquals(found({ allowFrom: ["bob"] }, { all: { pairing: "on" } }), "stranger");
  assertEquals(found({ pairing: "off" }, { all: { pairing: "on" } }), "nobody");
  assertEquals(found({}, { all: { pairing: "off" } }), "nobody");
});

Deno.test("findSender() knows who may write, compared exactly", () => {
  for (const allowFrom of [["*"], ["bob", "ann"]]) assertEquals(found({ allowFrom }), "allowed");
  assertEquals(found({ allowFrom: ["Ann"], pairing: "on" }), "stranger");
});

Deno.test("findSender() gives no codes where nobody verifies senders, or a channel is off or unknown", () => {
  assertEquals(found({ pairing: "on" }, { name: MAIL.name }), "nobody");
  assertEquals(found({ enabled: false }), "nobody");
  assertEquals(found({}, { runtimeName: "other" }), "nobody");
  // It would be a reference in the configuration.
  assertEquals(found({}, { senderId: "${secret:KEY}" }), "nobody");
});

Deno.test("findSender() goes by the instance that was written to", () => {
  const accounts = { one: { allowFrom: ["bob"] }, two: {} };
  assertEquals(found({ accounts }, { name: "team", runtimeName: "team.one" }), "nobody");
  assertEquals(found({ accounts }, { name: "team", runtimeName: "team.two" }), "two");
});
