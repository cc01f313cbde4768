import { assertEquals, assertMatch } from "@std/assert";
import { systemClock } from "../../lib/agent/clock.ts";
import { createChannelPlaces } from "../../lib/authority/channels/channel_places.ts";
import type { InboundMessage } from "../../lib/channel/inbound_message.ts";
import { buildChannel } from "../../lib/channel/place/build_channel.ts";
import type { PlaceSource } from "../../lib/channel/place/place_source.ts";
import { fillPermissions } from "../../lib/channel/permission_fields.ts";
import type { Log } from "../../lib/log.ts";
import manifest from "./manifest.ts";
import { deliver, mailsArrived, plainMail } from "./testing/mail_client.ts";
import { missingMailServers, startMailServers } from "./testing/mail_servers.ts";
import { answerTo, sectionOf } from "./testing/test_account.ts";

const missing = missingMailServers();
const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };

Deno.test({
  name: `email works with STARTTLS in a place that reaches its two servers alone${
    missing === undefined ? "" : ` (skipped: ${missing})`
  }`,
  ignore: missing !== undefined,
  async fn() {
    await using servers = await startMailServers();
    const stateDir = await Deno.realPath(await Deno.makeTempDir());
    const config = sectionOf(servers, {
      imapTls: "starttls",
      imapPort: servers.imap.port,
      smtpTls: "starttls",
      smtpPort: servers.smtp.port,
    });
    const source = (kind: "runtime" | "validator"): PlaceSource => ({
      boot: {
        runtimeName: "email",
        module:
          new URL(kind === "runtime" ? "./runtime.ts" : "./validation.ts", import.meta.url).href,
        exportName: kind === "runtime" ? "EmailChannel" : "validate",
        kind,
        config,
        stateDir,
        secrets: [],
        allowLocalServiceAccess: true,
      },
      permissions: fillPermissions(manifest.permissions, config, "channels.email"),
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
    const [outside] = await places.validate(source("validator"), { ...config, imapPort: 9 });
    assertMatch(outside!.message, /EPERM|Requires net access/);

    const heard = Promise.withResolvers<InboundMessage>();
    const connected = Promise.withResolvers<void>();
    const channel = await buildChannel(places.open, {
      spec: { runtimeName: "email", channel: "email", senderVerified: false },
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
    await deliver(servers, plainMail({ id: "<place@alice.test>" }));
    const message = await heard.promise;
    await channel.send(answerTo(message));
    const [answer] = await mailsArrived(servers, "alice", 1);
    assertEquals(answer!.email.inReplyTo, "<place@alice.test>");
    await channel.stop(5_000);
    await started;
    await places.shutdown();
    await Deno.remove(stateDir, { recursive: true });
  },
});
