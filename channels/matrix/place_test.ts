import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { systemClock } from "../../lib/agent/clock.ts";
import { createChannelPlaces } from "../../lib/authority/channels/channel_places.ts";
import type { InboundMessage } from "../../lib/channel/inbound_message.ts";
import { fillPermissions } from "../../lib/channel/permission_fields.ts";
import { buildChannel } from "../../lib/channel/place/build_channel.ts";
import type { PlaceSource } from "../../lib/channel/place/place_source.ts";
import { resolvedConfig } from "../../lib/channel/setup/resolved_config.ts";
import type { Log } from "../../lib/log.ts";
import manifest from "./manifest.ts";
import { FakeHomeserver } from "./testing/fake_homeserver.ts";

const silent: Log = { debug() {}, info() {}, warning() {}, error() {} };
const FLAGS = { sendProgress: true, sendToolHints: true, showReasoning: true };

Deno.test("matrix works in a place that reaches its homeserver alone: login, media, a restart", async () => {
  const server = await FakeHomeserver.open();
  const stateDir = await Deno.realPath(await Deno.makeTempDir({ prefix: "channel-" }));
  const config = resolvedConfig(
    {
      enabled: true,
      allowFrom: ["*"],
      homeserver: server.url,
      user: "helper",
      password: "correct horse",
    },
    manifest,
    FLAGS,
  );
  const source = (kind: "runtime" | "validator"): PlaceSource => ({
    boot: {
      runtimeName: "matrix",
      module:
        new URL(kind === "runtime" ? "./runtime.ts" : "./validation.ts", import.meta.url).href,
      exportName: kind === "runtime" ? "MatrixChannel" : "validate",
      kind,
      config,
      stateDir,
      secrets: ["correct horse"],
      allowLocalServiceAccess: true,
    },
    permissions: fillPermissions(manifest.permissions, config, "channels.matrix"),
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
  try {
    assertEquals(await places.validate(source("validator"), config), []);
    // What it may not reach is as if it were not there.
    const [outside] = await places.validate(source("validator"), {
      ...config,
      homeserver: "http://127.0.0.1:9",
    });
    assertMatch(outside!.message, /no Matrix homeserver at http:\/\/127\.0\.0\.1:9/);
    for (const [start, text] of ["first", "second"].entries()) {
      const heard = Promise.withResolvers<InboundMessage>();
      const connected = Promise.withResolvers<void>();
      const channel = await buildChannel(places.open, {
        spec: { runtimeName: "matrix", channel: "matrix", senderVerified: true },
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
      server.api.files.set("plan", {
        bytes: new TextEncoder().encode("the plan"),
        type: "text/plain",
        name: "plan.txt",
      });
      server.say(text, {
        msgtype: "m.file",
        mentions: [server.me],
        content: { filename: "plan.txt", url: "mxc://example.org/plan" },
      });
      const { content, chatId, metadata, media } = await heard.promise;
      assertEquals([content, media?.length], [text, 1]);
      const answer = { channel: "matrix", media: [], metadata: metadata ?? {}, chatId };
      await channel.send({ ...answer, id: text, content: `an answer to ${text}` });
      assertEquals(server.sent().length, start + 1);
      await channel.stop(5_000);
      await started;
    }
    const logins = server.calls.filter(({ method, path }) =>
      method === "POST" && path.endsWith("/login")
    );
    assertEquals(logins.length, 1);
    assertEquals([...Deno.readDirSync(join(stateDir, "media"))], []);
  } finally {
    await places.shutdown();
    await server.close();
    await Deno.remove(stateDir, { recursive: true });
  }
});
