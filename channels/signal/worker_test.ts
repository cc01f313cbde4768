import { assertEquals, assertMatch } from "@std/assert";
import { resolvedConfig } from "../../lib/channel/setup/resolved_config.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { PackageWorker } from "../../lib/operations/channels/testing/package_worker.ts";
import manifest from "./manifest.ts";
import { ANN, FakeSignal } from "./testing/fake_signal.ts";

const folder = new URL("./", import.meta.url);

const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

Deno.test("signal works in a worker that reaches its signal-cli alone", async () => {
  const signal = await FakeSignal.open();
  const section = { enabled: true, allowFrom: ["*"], ...signal.section };
  const config = resolvedConfig(section, manifest, FLAGS);
  await using worker = await PackageWorker.open({ manifest, folder, config, secrets: [] });
  try {
    assertEquals(await worker.validate(config), []);
    // What it may not reach is as if it were not there.
    const [outside] = await worker.validate({ ...config, port: 9 });
    assertMatch(outside!.message, /can't be reached at 127\.0\.0\.1:9/);
    const heard = Promise.withResolvers<InboundMessage>();
    const channel = await worker.build((message) => void heard.resolve(message));
    const started = channel.start();
    signal.write(ANN, { message: "hello" });
    const { content, chatId, metadata = {} } = await heard.promise;
    assertEquals(content, "hello");
    const answer = { channel: "signal", media: [], metadata, chatId };
    await channel.send({ ...answer, id: "1", content: "an answer" });
    assertEquals(signal.sent(), [{ chatId: ANN, text: "an answer" }]);
    await channel.stop(5_000);
    await started;
  } finally {
    await signal.close();
  }
});
