import { assertEquals, assertStringIncludes } from "@std/assert";
import { accountsAdapter } from "../../channel/management/accounts_adapter.ts";
import type { ManagementAdapter } from "../../channel/management.ts";
import { testChannel } from "../../registry/testing/test_registry.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { channelSchema, channelToWire } from "./channel_schemas.ts";
import { settingsFixture } from "./testing/settings_fixture.ts";

const TEAM = testDescriptor({
  name: "team",
  runtime: "channels/team/runtime.ts:Team",
  management: { multiInstance: true, adapter: "channels/team/instances.ts:adapter" },
});
const CONFIG = { channels: { team: { enabled: true, accounts: { work: {}, home: {} } } } };

/** How the instances are listed whose adapter also has these functions. */
function fixtureOf(adapter: Partial<ManagementAdapter>) {
  const channels = [testChannel(TEAM, { ...accountsAdapter(TEAM), ...adapter })];
  return settingsFixture({ config: CONFIG, channels });
}

Deno.test("a listing says where a login is kept, by the files of each instance's own folder", async () => {
  await using fixture = await fixtureOf({
    localStatePresent: (section, instanceId, files) =>
      section.enabled === true && files.includes(`${instanceId}.session`),
  });
  const states = async () =>
    (await fixture.listing("team")).instances.map((one) => one.localStatePresent);
  assertEquals(await states(), [false, false, false]);
  const folder = `${fixture.home.paths.dataDir}/channels/team.work`;
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/work.session`, "kept");
  assertEquals(await states(), [false, true, false]);
  const wire = channelSchema.parse(channelToWire(await fixture.listing("team")));
  assertEquals(wire.instances[1]!.local_state_present, true);
});

Deno.test("a listing says nothing of a login where the adapter does not tell, and why where it throws", async () => {
  await using silent = await fixtureOf({});
  const [first] = (await silent.listing("team")).instances;
  assertEquals("localStatePresent" in first!, false);
  await using failing = await fixtureOf({
    localStatePresent() {
      throw new Error("no such state");
    },
  });
  const { configured, problem, instances } = await failing.listing("team");
  assertEquals([configured, instances], [false, []]);
  assertStringIncludes(problem!, "localStatePresent of its adapter says: no such state");
});

Deno.test("a listing says of settings that no worker can be started with, as of any that are wrong", async () => {
  const good = { enabled: true, server: "irc.example", botToken: "t0ken" };
  await using fixture = await settingsFixture({
    config: {
      channels: {
        chat: { ...good, server: "10.0.0.0/8" },
        team: { ...good, accounts: { far: { server: "*" }, near: {} } },
      },
    },
  });
  const chat = await fixture.listing();
  assertEquals([chat.configured, chat.missing], [false, []]);
  assertStringIncludes(chat.problem!, 'it asks for the host "10.0.0.0/8:6697"');
  const team = await fixture.listing("team");
  assertEquals(team.instances.map(({ id, configured }) => [id, configured]), [
    ["default", true],
    ["far", false],
    ["near", true],
  ]);
  assertStringIncludes(team.problem!, "far: Cannot use channels.team.far.server: it holds a *");
});
