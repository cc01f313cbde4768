import { assert, assertEquals } from "@std/assert";
import { BOT_SCOPES, HTTP_PATH } from "./app_manifest.ts";
import manifest from "./manifest.ts";

interface AppManifest {
  settings: {
    event_subscriptions: { bot_events: string[] };
    interactivity: { is_enabled: boolean };
    socket_mode_enabled: boolean;
  };
  oauth_config: { scopes: { bot: string[] } };
  features: { app_home: { messages_tab_enabled: boolean } };
}

Deno.test("the app manifest of the docs has the scopes and events of the code", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/channels/slack.md", import.meta.url),
  );
  const [, json] = /```json\n(\s*\{\s*"display_information"[\s\S]*?)\n\s*```/.exec(page) ?? [];
  const app = JSON.parse(json ?? "{}") as AppManifest;
  assertEquals(app.oauth_config.scopes.bot, [...BOT_SCOPES]);
  assertEquals(app.settings.event_subscriptions.bot_events, [
    "app_mention",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
  ]);
  assertEquals(app.settings.socket_mode_enabled, true);
  assertEquals(app.settings.interactivity.is_enabled, true);
  assertEquals(app.features.app_home.messages_tab_enabled, true);
  assert(page.includes(HTTP_PATH));
});

Deno.test("the docs of Slack name every setting", async () => {
  const page = await Deno.readTextFile(
    new URL("../../docs/channels/slack.md", import.meta.url),
  );
  for (const field of Object.keys(manifest.setup.fields)) {
    assert(page.includes(`\`${field}\``), field);
  }
});
