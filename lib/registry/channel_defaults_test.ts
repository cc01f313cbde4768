import { assertEquals } from "@std/assert";
import { accountsAdapter } from "../channel/management/accounts_adapter.ts";
import { testDescriptor } from "../channel/setup/testing/test_descriptor.ts";
import { channelSecrets, defaultSections } from "./channel_defaults.ts";
import { testChannel, testRegistry } from "./testing/test_registry.ts";

const CHAT = testDescriptor();
const DEFAULTS = {
  enabled: false,
  allowFrom: [],
  streaming: false,
  server: "",
  port: 6697,
  tls: true,
  nick: "bot",
  botToken: "",
  tokenFile: "",
  rooms: [],
};

Deno.test("defaultSections() has every default of a contract, and no flag (C15)", () => {
  assertEquals(defaultSections(testRegistry([testChannel(CHAT)])), { chat: DEFAULTS });
});

Deno.test("defaultSections() takes those of an adapter, as far as it gives any", () => {
  const of = (defaultConfig: () => Record<string, unknown>) =>
    defaultSections(
      testRegistry([testChannel(CHAT, { ...accountsAdapter(CHAT), defaultConfig })]),
    ).chat;
  assertEquals(of(() => ({ accounts: {}, nick: "x", enabled: true })), {
    ...DEFAULTS,
    nick: "x",
    accounts: {},
  });
  assertEquals(
    of(() => {
      throw new Error("boom");
    }),
    DEFAULTS,
  );
});

Deno.test("channelSecrets() says of each field whether it is a secret", () => {
  const { chat } = channelSecrets(testRegistry([testChannel(CHAT)]));
  assertEquals([chat!.botToken, chat!.tokenFile, chat!.allowFrom, chat!.odd], [
    true,
    false,
    false,
    undefined,
  ]);
});
