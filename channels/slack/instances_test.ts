import { assertEquals } from "@std/assert";
import { instances } from "./instances.ts";

Deno.test("instances gives each workspace its own tokens and what all share", () => {
  const section = {
    enabled: true,
    botToken: "xoxb-a",
    appToken: "xapp-a",
    respond: "all",
    accounts: { work: { botToken: "xoxb-b", appToken: "xapp-b" } },
  };
  const specs = instances.instanceSpecs(section);
  assertEquals(
    specs.map(({ instanceId, config }) => [instanceId, config.botToken, config.respond]),
    [
      ["default", "xoxb-a", "all"],
      ["work", "xoxb-b", "all"],
    ],
  );
});
