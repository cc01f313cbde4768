import { assert, assertEquals } from "@std/assert";
import { testChannel, testRegistry } from "../../channel/registry/testing/test_registry.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { configSchema } from "../../config/schema.ts";
import { tempHome } from "../../config/testing/temp_home.ts";
import type { AuditLog } from "../audit/log.ts";
import { openHomeChannels } from "./home_channels.ts";

const TOKEN = "s3cret-token-of-chat";

Deno.test("specs() tell the service no secret that an adapter says why it fails with", async () => {
  await using home = await tempHome();
  const { paths, env } = home;
  const adapter = {
    instanceSpecs(section: object): never {
      throw new Error(`cannot read ${JSON.stringify(section)}`);
    },
    updateInstanceConfig: () => ({}),
  };
  const say = () => {};
  const channels = openHomeChannels({
    registry: testRegistry([testChannel(testDescriptor(), adapter)]),
    config: configSchema.parse({ channels: { chat: { enabled: true, botToken: TOKEN } } }),
    paths,
    denoDir: undefined,
    env,
    scrubber: { text: (text) => text.replaceAll(TOKEN, "[secret]") },
    audit: {} as AuditLog,
    reload: () => Promise.resolve(),
    log: { debug: say, info: say, warning: say, error: say },
  });
  const specs = channels.specs();
  assertEquals(specs.length, 1);
  assert(specs[0]!.problem?.includes("cannot read"), specs[0]!.problem);
  assert(!JSON.stringify(specs).includes("s3cret"), specs[0]!.problem);
  await channels.shutdown();
});
