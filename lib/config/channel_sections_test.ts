import { assertEquals } from "@std/assert";
import { channelSections, withoutChannelSections } from "./channel_sections.ts";
import { examine } from "../settings/examine.ts";
import { formatProblem } from "./problem.ts";
import { configSchema } from "./schema.ts";
import { tempHome } from "./testing/temp_home.ts";

async function problems(channels: unknown): Promise<string[]> {
  await using home = await tempHome({ LIST: "a,b", PORT: "7", YES: "true" });
  const text = JSON.stringify({ channels });
  return examine({ ...home, text }).problems.map((each) =>
    formatProblem({ ...each, line: undefined })
  );
}

Deno.test("a section of a package refuses to load where it says wrongly who may write", async () => {
  assertEquals(await problems({ chat: { allowFrom: "alice" } }), [
    "channels.chat.allowFrom: the text that is there is not a list of texts",
  ]);
  assertEquals(await problems({ chat: { allow_from: { alice: true } } }), [
    "channels.chat.allowFrom: an object is not a list of texts",
  ]);
  assertEquals((await problems({ chat: { allowFrom: [1] } })).length, 1);
  assertEquals(await problems({ chat: { allowFrom: null } }), [
    "channels.chat.allowFrom: null is not a list of texts",
  ]);
  assertEquals(await problems({ chat: { allowFrom: "${LIST}" } }), [
    'channels.chat.allowFrom: "${LIST}" is not a list of texts',
  ]);
});

Deno.test("a section of a package refuses to load with switches that are none", async () => {
  for (
    const key of ["enabled", "streaming", "sendProgress", "send_tool_hints", "showReasoning"]
  ) {
    assertEquals((await problems({ chat: { [key]: "yes" } })).length, 1, key);
    assertEquals(await problems({ chat: { [key]: false } }), []);
  }
  assertEquals(await problems({ chat: { enabled: "${YES}" } }), [
    'channels.chat.enabled: "${YES}" is not true or false',
  ]);
  assertEquals(await problems({ chat: { sendMaxRetries: 101 } }), [
    "channels.chat.sendMaxRetries: 101 is not an integer from 0 to 100",
  ]);
  assertEquals(await problems({ chat: { show_reasoning: true, showReasoning: true } }), [
    'channels.chat.showReasoning: stands there twice, as "show_reasoning" and as "showReasoning"',
  ]);
});

Deno.test("what else stands in a section of a package is not judged with the file", async () => {
  assertEquals(
    await problems({
      chat: { enabled: true, port: "x", accounts: [], allowFrom: ["a"], odd: { deep: 1 } },
      other: { port: "${PORT}" },
    }),
    [],
  );
  assertEquals((await problems({ chat: { token: "${UNSET}" } })).length, 1);
});

Deno.test("withoutChannelSections() leaves what is no package's", () => {
  const config = configSchema.parse({
    channels: { chat: { token: "t" }, sendProgress: false, odd: 3 },
  });
  assertEquals(channelSections(config.channels), { chat: { token: "t" } });
  const { channels } = withoutChannelSections(config);
  assertEquals("chat" in channels, false);
  assertEquals([channels.sendProgress, channels.websocket.port], [false, 8765]);
});
