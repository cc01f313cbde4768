import { assertEquals } from "@std/assert";
import { CHANNELS } from "../../channels/mod.ts";
import { defaultSections } from "../../lib/registry/channel_defaults.ts";
import { openRegistry } from "../../lib/registry/open_registry.ts";
import { channelSpecs } from "../../lib/registry/channel_specs.ts";
import { configSchema } from "../../lib/config/schema.ts";
import { addChannels } from "./add_channels.ts";

const DEFAULTS = { chat: { enabled: false, botToken: "", allowFrom: [] }, web: { port: 1 } };

Deno.test("addChannels() adds what is there in neither spelling, and changes nothing", () => {
  assertEquals(addChannels({}, DEFAULTS), { channels: DEFAULTS });
  const stored = {
    agent: {},
    channels: {
      sendProgress: false,
      chat: { enabled: true, bot_token: "t", odd: 1 },
      web: null,
      other: {},
    },
  };
  assertEquals(addChannels(stored, DEFAULTS), {
    agent: {},
    channels: {
      ...stored.channels,
      chat: { ...stored.channels.chat, allowFrom: [] },
    },
  });
  const whole = addChannels(stored, DEFAULTS);
  assertEquals(addChannels(whole, DEFAULTS), whole);
});

Deno.test("the defaults of every channel load, and mean what nothing means (C15)", async () => {
  const registry = await openRegistry(CHANNELS);
  const sections = defaultSections(registry);
  assertEquals(Object.keys(sections).toSorted(), CHANNELS.map(({ folder }) => folder).toSorted());
  const config = configSchema.parse({ channels: sections });
  assertEquals(config.channels.websocket, configSchema.parse({}).channels.websocket);
  const specs = (channels: unknown) =>
    channelSpecs({
      registry,
      config: configSchema.parse({ channels }),
      dataDir: "/home/data",
      fingerprintKey: new Uint8Array(32),
    }).map(({ fingerprint: _, ...spec }) => spec);
  assertEquals(specs(sections), specs({}));
});
