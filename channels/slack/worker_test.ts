import { assertEquals } from "@std/assert";
import { checkChannel } from "../../lib/channel/testing/mod.ts";
import { FakeSlack } from "./testing/fake_slack.ts";

const folder = new URL("./", import.meta.url);

for (const mode of ["socket", "http"] as const) {
  Deno.test({
    name: `slack works in a worker that may reach its server alone, mode ${mode}`,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const openPlatform = () => FakeSlack.open({ mode });
      assertEquals(await checkChannel({ folder, openPlatform }, ["place"]), []);
    },
  });
}
