import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { systemClock } from "../../lib/agent/clock.ts";
import { createChannelPlaces } from "../../lib/authority/channels/channel_places.ts";
import type { InboundMessage } from "../../lib/channel/inbound_message.ts";
import { fillPermissions } from "../../lib/channel/permission_fields.ts";
import { buildChannel } from "../../lib/channel/place/build_channel.ts";
import type { PlaceSource } from "../../lib/channel/place/place_source.ts";
import type { Log } from "../../lib/log.ts";
import { NS } from "./client/namespaces.ts";
import manifest from "./manifest.ts";
import { Person } from "./testing/person.ts";
import { Prosody, prosodyMissing } from "./testing/prosody.ts";
import { sectionOf } from "./testing/test_channel.ts";

const missing = prosodyMissing();
const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };

Deno.test({
  name: `xmpp works with STARTTLS in a place that reaches its server and its files alone${
    missing === undefined ? "" : ` (skipped: ${missing})`
  }`,
  ignore: missing !== undefined,
  async fn() {
    const server = await Prosody.start();
    const alice = await Person.connect(server, "alice");
    const stateDir = await Deno.realPath(await Deno.makeTempDir());
    const config = sectionOf(server, "agent");
    const source = (kind: "runtime" | "validator"): PlaceSource => ({
      boot: {
        runtimeName: "xmpp",
        module:
          new URL(kind === "runtime" ? "./runtime.ts" : "./validation.ts", import.meta.url).href,
        exportName: kind === "runtime" ? "XmppChannel" : "validate",
        kind,
        config,
        stateDir,
        secrets: [],
        allowLocalServiceAccess: true,
      },
      permissions: fillPermissions(manifest.permissions, config, "channels.xmpp"),
      dependencies: manifest.dependencies,
    });
    const places = createChannelPlaces({
      sourceOf: () => source("runtime"),
      packages: { ensure: () => Promise.resolve(), shutdown: () => Promise.resolve() },
      forbidden: [],
      scrub: (text) => text,
      clock: systemClock,
      log: silent,
    });
    assertEquals(await places.validate(source("validator"), config), []);
    const [outside] = await places.validate(source("validator"), { ...config, port: 9 });
    assertMatch(outside!.message, /EPERM|Requires net access/);

    const heard = Promise.withResolvers<InboundMessage>();
    const connected = Promise.withResolvers<void>();
    const channel = await buildChannel(places.open, {
      spec: { runtimeName: "xmpp", channel: "xmpp", senderVerified: true },
      inbound(_spec, message) {
        heard.resolve(message);
        return Promise.resolve({ kind: "turn", turnId: "t", repeated: false });
      },
      transcribe: () => Promise.reject(new Error("Transcription is off")),
      stateDir,
      clock: systemClock,
      log: silent,
    });
    channel.onChange = () => channel.detail?.startsWith("connected") && connected.resolve();
    const started = channel.start();
    await connected.promise;
    await alice.say("agent@localhost", "hello there");
    const { chatId, metadata } = await heard.promise;
    const file = join(stateDir, "file.txt");
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
    await places.shutdown();
    await alice.close();
    await server.close();
    await Deno.remove(stateDir, { recursive: true });
  },
});
