import { assertEquals, assertStringIncludes } from "@std/assert";
import { testChannel, testRegistry } from "../../registry/testing/test_registry.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { listChannels } from "./list_channels.ts";
import { localizedListing } from "./localized_listing.ts";

const base = testDescriptor();
const descriptor = testDescriptor({
  locales: ["de", "es"],
  setup: { ...base.setup, summary: "Chats. Needs a bot.", steps: ["Make a bot."] },
});
const labels = Object.fromEntries(
  Object.keys(descriptor.setup.fields).map((name) => [name, { label: `Feld ${name}` }]),
);
const german = {
  language: "Deutsch",
  displayName: "Plausch",
  fields: labels,
  summary: "Plaudern. Braucht einen Bot.",
  steps: ["Leg einen Bot an."],
  words: {},
};
const registry = testRegistry([{
  ...testChannel(descriptor),
  locales: {
    de: () => Promise.resolve({ default: german }),
    es: () => Promise.resolve({ default: { ...german, steps: [] } }),
  },
}], [{ folder: "bad", problem: "it throws" }]);
const examined = { config: undefined, problems: [] } as unknown as Parameters<
  typeof listChannels
>[0]["examined"];
const [chat, bad] = listChannels({ registry, examined, features: {}, dataDir: "/data" });

Deno.test("localizedListing() has labels, steps and the name in a language, and English otherwise", async () => {
  assertEquals([chat!.locale, chat!.steps, chat!.locales], ["en", ["Make a bot."], [
    "en",
    "de",
    "es",
  ]]);
  assertEquals(chat!.summary, "Chats. Needs a bot.");
  const { displayName, locale, summary, steps, fields } = await localizedListing(
    chat!,
    registry,
    "de-CH",
  );
  assertEquals([displayName, locale, summary, steps], [
    "Plausch",
    "de",
    "Plaudern. Braucht einen Bot.",
    ["Leg einen Bot an."],
  ]);
  assertEquals(fields.server, { ...chat!.fields.server!, label: "Feld server" });
  // Those of every channel are not the package's.
  assertEquals(fields.allowFrom?.label, "Kennungen derer, die schreiben dürfen; * für alle");
  assertEquals(await localizedListing(chat!, registry, "fr"), chat);
  assertEquals(await localizedListing(bad!, registry, "de"), bad!);
});

Deno.test("localizedListing() is English where a language is wrong, and says why; the channel goes on", async () => {
  const { localeProblem, ...rest } = await localizedListing(chat!, registry, "es");
  assertEquals(rest, chat!);
  assertStringIncludes(localeProblem!, "channels/chat/locales/es.json: steps is wrong");
});
