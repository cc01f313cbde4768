import { assertEquals, assertRejects } from "@std/assert";
import { BaseChannel, type PackageConfig } from "../channel/base_channel.ts";
import type { OutboundMessage } from "../contract/outbound_message.ts";
import { FakeHost } from "../channel/testing/fake_host.ts";
import { createWorkerServer } from "./serve.ts";

const PIECE = { chatId: "c", metadata: { message_id: "1" }, streamId: "s" };
const MESSAGE: OutboundMessage = {
  ...{ id: "m", channel: "plain", chatId: "c", content: "Hm", media: [] },
  metadata: PIECE.metadata,
};

const NOT_ASKED = {
  signal: new AbortController().signal,
  bytes: undefined,
  progress() {},
  transfer() {},
};

/** Has all that `BaseChannel` gives, and says what it is asked to show. */
class Plain extends BaseChannel {
  static made: PackageConfig | undefined;
  static refreshed: Record<string, unknown> | undefined;
  readonly shown: unknown[] = [];
  override isRunning = false;
  override start = () => Promise.resolve();
  override stop = () => Promise.resolve();
  override send = (message: OutboundMessage) => Promise.resolve(void this.shown.push(message));

  constructor(...made: ConstructorParameters<typeof BaseChannel>) {
    super(...made);
    Plain.made = this.config;
  }

  static override defaultConfig(): Record<string, unknown> {
    return { enabled: true, allowFrom: ["*"], port: 7, mode: "loud" };
  }

  static override refreshFeatureMetadata(config: Record<string, unknown>) {
    Plain.refreshed = config;
    return Promise.resolve(undefined);
  }
}

class Thinking extends Plain {
  override sendReasoningDelta = (piece: unknown) => Promise.resolve(void this.shown.push(piece));
  override sendReasoningEnd = (end: unknown) => Promise.resolve(void this.shown.push(end));
}

async function withServer(
  Runtime: typeof Plain,
  config: Record<string, unknown>,
  use: (server: ReturnType<typeof createWorkerServer>) => Promise<void>,
): Promise<void> {
  const host = await FakeHost.open({ name: "plain" });
  const boot = { config, allowLocalServiceAccess: true, exportName: Runtime.name };
  try {
    await use(createWorkerServer({ kind: "runtime", Runtime }, { boot, host }));
  } finally {
    await host.close();
  }
}

Deno.test("a runtime is given its class's defaults for what nobody has set, and no word on who may write", async () => {
  const config = { enabled: false, allowFrom: [], port: 8 };
  await withServer(Plain, config, async (server) => {
    assertEquals(Plain.made as unknown, { ...config, mode: "loud" });
    await server.calls.refresh({}, NOT_ASKED);
    assertEquals(Plain.refreshed, { ...config, mode: "loud" });
  });
  assertEquals(config, { enabled: false, allowFrom: [], port: 8 });
  const odd = class Odd extends Plain {
    static override defaultConfig = () => [] as never;
  };
  await assertRejects(() => withServer(odd, {}, () => Promise.resolve()), Error, "gives no object");
});

Deno.test("thoughts go to nobody who shows none, and a whole one is one piece and its end", async () => {
  const host = await FakeHost.open({ name: "plain" });
  const quiet = new Plain({}, host);
  await quiet.sendReasoning(MESSAGE);
  assertEquals(quiet.shown, []);
  const thinking = new Thinking({}, host);
  await thinking.sendReasoning(MESSAGE);
  const { metadata } = PIECE;
  assertEquals(thinking.shown, [
    { chatId: "c", delta: "Hm", metadata, streamId: "m" },
    { chatId: "c", metadata, streamId: "m" },
  ]);
  await host.close();
});

Deno.test("a login that is not there is told from one that succeeds; streams are refused where there are none", async () => {
  await withServer(Plain, { streaming: true }, async (server) => {
    assertEquals(await server.calls.load(null, NOT_ASKED), { supportsStreaming: false });
    assertEquals(await server.calls.login({ force: true }, NOT_ASKED), null);
    const piece = { ...PIECE, delta: "a", streamEnd: false, resuming: false };
    await assertRejects(
      async () => await server.calls.send_delta(piece, NOT_ASKED),
      Error,
      "It has no sendDelta()",
    );
    await assertRejects(async () => await server.calls.validate({}, NOT_ASKED), Error, "validate");
  });
});
