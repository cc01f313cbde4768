import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { PackageWorker } from "../../lib/operations/channels/testing/package_worker.ts";
import { configFor } from "../../lib/channel/testing/trial.ts";
import type { InboundMessage } from "../../lib/contract/inbound_message.ts";
import { needs } from "../../tests/support/needs.ts";
import { NS } from "./client/namespaces.ts";
import manifest from "./manifest.ts";
import { Person } from "./testing/person.ts";
import { Prosody, PROSODY_NEEDS } from "./testing/prosody.ts";
import { sectionOf } from "./testing/test_channel.ts";

const folder = new URL("./", import.meta.url);

Deno.test({
  ...needs(
    "xmpp works with STARTTLS in a worker that reaches its server and its files alone",
    ...PROSODY_NEEDS,
  ),
  async fn() {
    const server = await Prosody.start();
    const alice = await Person.connect(server, "alice");
    const config = configFor(manifest, { section: sectionOf(server, "agent") });
    await using worker = await PackageWorker.open({ manifest, folder, config });
    assertEquals(await worker.validate(config), []);
    const [outside] = await worker.validate({ ...config, port: 9 });
    assertMatch(outside!.message, /EPERM|Requires net access/);

    const heard = Promise.withResolvers<InboundMessage>();
    const connected = Promise.withResolvers<void>();
    const channel = await worker.build((message) => void heard.resolve(message));
    channel.onChange = () => channel.detail?.startsWith("connected") && connected.resolve();
    const started = channel.start();
    await connected.promise;
    await alice.say("agent@localhost", "hello there");
    const { chatId, metadata } = await heard.promise;
    const file = join(worker.stateDir, "file.txt");
    await Deno.writeTextFile(file, "its text");
    await channel.send({
      id: "answer",
      channel: "xmpp",
      chatId,
      content: "**hello**",
      media: [file],
      metadata: metadata ?? {},
    });
    await alice.message("*hello*");
    await alice.stanza((one) =>
      one.getChild("x", NS.oob)?.getChildText("url")?.endsWith("/file.txt") === true
    );
    await channel.stop(5_000);
    await started;
    await alice.close();
    await server.close();
  },
});
