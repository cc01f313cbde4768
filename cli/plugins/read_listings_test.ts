import { assert, assertEquals } from "@std/assert";
import { testChannel, testRegistry } from "../../lib/registry/testing/test_registry.ts";
import { testDescriptor } from "../../lib/channel/setup/testing/test_descriptor.ts";
import { tempHome } from "../../lib/config/testing/temp_home.ts";
import { readListings } from "./read_listings.ts";

Deno.test("readListings() shows no secret that an adapter says why it fails with", async () => {
  await using home = await tempHome();
  await home.write({ channels: { chat: { enabled: true, botToken: "s3cret-token-of-chat" } } });
  const { paths, env } = home;
  const adapter = {
    instanceSpecs(section: object): never {
      throw new Error(`cannot read ${JSON.stringify(section)}`);
    },
    updateInstanceConfig: () => ({}),
  };
  const channels = () => Promise.resolve(testRegistry([testChannel(testDescriptor(), adapter)]));
  const { listings } = await readListings({ paths, env, channels });
  const [{ name, problem }] = listings as [typeof listings[number]];
  assertEquals(name, "chat");
  assert(problem!.includes("cannot read"), problem);
  assert(!problem!.includes("s3cret"), problem);
});
