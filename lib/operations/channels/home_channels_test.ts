import { assert, assertEquals } from "@std/assert";
import { testChannel, testRegistry } from "../../registry/testing/test_registry.ts";
import { testDescriptor } from "../../channel/setup/testing/test_descriptor.ts";
import { configSchema } from "../../config/schema.ts";
import { tempHome } from "../../config/testing/temp_home.ts";
import type { AuditLog } from "../../audit/log.ts";
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
    state: { secrets: { deriveKey: () => Promise.reject(new Error("there is none")) } },
    denoDir: undefined,
    env,
    scrubber: { text: (text) => text.replaceAll(TOKEN, "[secret]") },
    audit: {} as AuditLog,
    reload: () => Promise.resolve(),
    tellSpecs() {},
    log: { debug: say, info: say, warning: say, error: say },
  });
  const specs = channels.specs();
  assertEquals(specs.length, 1);
  assert(specs[0]!.problem?.includes("cannot read"), specs[0]!.problem);
  assert(!JSON.stringify(specs).includes("s3cret"), specs[0]!.problem);
  await channels.shutdown();
});

Deno.test("a package that is broken is left out with a warning that names it (C2)", async () => {
  await using home = await tempHome();
  const { paths, env } = home;
  const warnings: unknown[] = [];
  const say = () => {};
  const problem = "Cannot use channels/odd/manifest.ts: it fails while it is loaded: boom";
  const wanted = { folder: "wanted", problem: "Cannot use channels/wanted/manifest.ts: no" };
  const channels = openHomeChannels({
    registry: testRegistry([testChannel(testDescriptor())], [{ folder: "odd", problem }, wanted]),
    config: configSchema.parse({ channels: { wanted: { enabled: true } } }),
    paths,
    state: { secrets: { deriveKey: () => Promise.reject(new Error("there is none")) } },
    denoDir: undefined,
    env,
    scrubber: { text: (text) => text },
    audit: {} as AuditLog,
    reload: () => Promise.resolve(),
    tellSpecs() {},
    log: {
      debug: say,
      info: say,
      warning: (...line: unknown[]) => void warnings.push(line),
      error: say,
    },
  });
  assertEquals(warnings, [["A channel is left out", { folder: "odd", problem }]]);
  // One that is switched on is among what is to be started, as failed; all others are as they were.
  assertEquals(channels.specs().map((spec) => [spec.runtimeName, spec.enabled, spec.problem]), [
    ["chat", false, undefined],
    ["odd", false, problem],
    ["wanted", true, wanted.problem],
  ]);
  assertEquals(warnings.length, 1);
  await channels.shutdown();
});
