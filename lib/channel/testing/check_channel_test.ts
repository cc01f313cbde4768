import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { checksFor } from "./check_channel.ts";
import { CHANNEL_CHECKS } from "./checks/mod.ts";
import { ToyPlatform } from "./toy_channel_fixture.ts";
import { findingsOf, TOY_MANIFEST, toyLocale, type ToyPackage } from "./toy_package_fixture.ts";

/** A package that breaks a rule, and what has to be said of it. */
type Wrong = ToyPackage & {
  check: string;
  seen: string;
  /** It is found by something that does not come. */
  waits?: true;
};

const NO_FIELDS = { fields: {}, required: [], steps: ["Switch it on."] };

const WRONG: readonly Wrong[] = [
  { check: "manifest", manifest: { name: "toy2" }, seen: 'name is "toy2" and the folder is "toy"' },
  { check: "manifest", files: { "manifest.ts": null }, seen: "there is no manifest.ts" },
  { check: "manifest", files: { "manifest.ts": "throw new Error('no')" }, seen: "it fails while" },
  { check: "manifest", files: { "connect.ts": null }, seen: "connector names" },
  {
    check: "manifest",
    files: { "instances.ts": "export const instances = {};" },
    seen: "its export instances is no management adapter",
  },
  {
    check: "manifest_alone",
    files: {
      "manifest.ts": `import "./runtime.ts";\nexport default ${JSON.stringify(TOY_MANIFEST)};`,
    },
    seen: "manifest.ts brings",
  },
  {
    check: "manifest_alone",
    files: {
      "instances.ts": `import "npm:croner@11.0.1";
export const instances = { instanceSpecs: () => [], updateInstanceConfig: (s) => s };`,
    },
    seen: "instances.ts brings npm:",
  },
  {
    check: "manifest_alone",
    files: {
      "manifest.ts": `Deno.env.get("HOME");
export default ${JSON.stringify(TOY_MANIFEST)};`,
    },
    seen: "does not load without permissions: error: Uncaught",
  },
  {
    check: "modules",
    files: { "runtime.ts": "export class Other {}" },
    seen: "the manifest names its export ToyChannel, and it exports Other",
  },
  {
    check: "modules",
    files: { "runtime.ts": "export class ToyChannel {}" },
    seen: "a class that does not extend BaseChannel",
  },
  { check: "modules", files: { "validate.ts": "export const validate = 1;" }, seen: "no function" },
  { check: "modules", files: { "connect.ts": "export const connector = {};" }, seen: "handle(" },
  {
    check: "instances",
    files: {
      "instances.ts": `const one = { instanceId: "a", config: {} };
export const instances = { instanceSpecs: () => [one, one], updateInstanceConfig: (s) => s };`,
    },
    seen: "of the section {}",
  },
  {
    check: "instances",
    files: {
      "instances.ts": `export const instances = {
  instanceSpecs: (section) => [{ instanceId: "default", config: section }],
  updateInstanceConfig: (s, values) => ({ ...s, ...values }),
};`,
    },
    seen: 'it takes the section {"accounts":"work"}, which is malformed',
  },
  {
    check: "instances",
    files: {
      "instances.ts": `export const instances = {
  instanceSpecs: (s) => Object.entries({ default: {}, ...s.accounts })
    .map(([instanceId, config]) => ({ instanceId, config: { ...config } })),
  updateInstanceConfig: (s) => ({ ...s, accounts: {} }),
};`,
    },
    seen: 'of the section {"enabled":true,"accounts"',
  },
  {
    check: "locales",
    files: { "locales/de.json": null },
    seen: "the manifest names de, and there are none",
  },
  {
    check: "locales",
    files: { "locales/es.json": toyLocale() },
    seen: "the manifest names de, and there are de, es",
  },
  {
    check: "locales",
    files: { "locales/de.json": toyLocale({ fields: {} }) },
    seen: "channels/toy/locales/de.json: fields.hub has no label",
  },
  { check: "locales", files: { "locales/de.json": toyLocale({ steps: [] }) }, seen: "steps" },
  { check: "locales", files: { "locales/de.json": "{" }, seen: "locales/de.json: " },
  {
    check: "locales",
    files: { "locales/de.json": toyLocale({ steps: ["Erst das.", "Dann dies."] }) },
    seen: "de has 2 steps, and setup.steps of the manifest 1",
  },
  {
    check: "locales",
    manifest: { locales: ["de", "es"] },
    files: { "locales/es.json": toyLocale({ words: { approve: "Permitir", deny: "Negar" } }) },
    seen: "words.deny is in one of de and es alone",
  },
  {
    check: "defaults",
    runtime: "static defaultConfig() { return { hubs: 1 }; }",
    seen: '"hubs" is no field',
  },
  {
    check: "defaults",
    runtime: "static defaultConfig() { return { tone: 'shrill' }; }",
    seen: "tone is",
  },
  { check: "defaults", runtime: "static defaultConfig() { return []; }", seen: "no object" },
  {
    check: "metadata",
    runtime: "static async refreshFeatureMetadata() { return { name: 7 }; }",
    seen: "its name is wrong",
  },
  {
    check: "metadata",
    runtime: "static async refreshFeatureMetadata() { throw new Error('no network'); }",
    seen: "no network",
  },
  {
    check: "side_notes",
    runtime: "async sendReasoningEnd() { throw new Error('nothing began'); }",
    seen: "it rejects the end of a thought: nothing began",
  },
  {
    check: "side_notes",
    runtime: `async send(message) {
      await super.send(message);
      if (message.event?.type === "turn_end") throw new Error("what ended?");
    }`,
    seen: "it rejects the end of a turn: what ended?",
  },
  {
    check: "side_notes",
    runtime: `async send(message) {
      await super.send(message);
      if (message.event?.type === "approval_resolved") throw new Error("which one?");
    }`,
    seen: "it rejects how an approval came out: which one?",
  },
  {
    check: "hears_anything",
    runtime: `async take(message) {
      if (message.text.includes("__proto__")) this.ending.reject(new Error("unexpected token"));
      await super.take(message);
    }`,
    seen: "start() has rejected: unexpected token",
  },
  {
    check: "keeps_all",
    runtime: `async take(message) {
      if (this.busy) return;
      this.busy = true;
      await super.take(message);
      this.busy = false;
    }`,
    seen: "of 20 these were not published: 2, 3, 4",
    waits: true,
  },
  {
    check: "keeps_all",
    runtime: `async take(message) {
      await super.take(message);
      await super.take({ ...message, id: crypto.randomUUID() });
    }`,
    seen: "published twice, as two",
  },
  { check: "capabilities", manifest: { capabilities: [] }, seen: "the runtime has sendDelta()" },
  {
    check: "capabilities",
    manifest: { capabilities: ["streaming", "reasoning"] },
    runtime: "async sendReasoning() {}",
    seen: 'lists "reasoning" and the runtime has no sendReasoningDelta()',
  },
  {
    check: "capabilities",
    manifest: { capabilities: ["streaming", "reasoning"] },
    seen: 'lists "reasoning" and the runtime has no sendReasoningDelta()',
  },
  {
    check: "choices",
    manifest: {
      setup: {
        fields: { ...TOY_MANIFEST.setup.fields, tone: { kind: "enum", choices: ["loud", "soft"] } },
        required: [],
      },
    },
    seen: 'tone "soft": its constructor throws: No such tone',
  },
  {
    check: "validator",
    files: {
      "validate.ts": "export async function validate() { throw new Error('net is down'); }",
    },
    seen: "of settings that work: net is down",
  },
  {
    check: "validator",
    files: { "validate.ts": "export async function validate() { return [{ level: 'bad' }]; }" },
    seen: "its 0.level is wrong",
  },
  {
    check: "validator",
    files: {
      "validate.ts":
        "export async function validate() { return [{ level: 'error', message: 'No!' }]; }",
    },
    seen: "it says of settings that work: No!",
  },
  {
    check: "validator",
    files: { "validate.ts": "export function validate() { return new Promise(() => {}); }" },
    seen: "it found nothing",
    waits: true,
  },
  { check: "login", runtime: "login() { return Promise.resolve(false); }", seen: "with false" },
  {
    check: "connector",
    files: {
      "connect.ts":
        "export const connector = { handle: async () => ({ state: 'connected', message: '' }) };",
    },
    seen: 'it answered "connected"',
  },
  {
    check: "connects",
    files: {
      "connect.ts":
        "export const connector = { handle: async () => ({ state: 'waiting', message: '', show: {} }) };",
    },
    seen: "it still waits",
    waits: true,
  },
  {
    check: "connects",
    files: {
      "connect.ts":
        "export const connector = { handle: async (action) => ({ state: action === 'start' ? 'waiting' : 'connected', message: '', show: {}, values: { hut: 1 } }) };",
    },
    seen: "it brings hut",
  },
  {
    check: "start_blocks",
    runtime: "async start() { super.start().catch(() => {}); this.isConnected = true; }",
    seen: "start() has resolved",
  },
  {
    check: "start_blocks",
    runtime: "async start() { await super.start(); throw new Error('cut off'); }",
    seen: "start() has rejected because of stop(): cut off",
  },
  {
    check: "start_blocks",
    runtime: "get isRunning() { return true; }",
    seen: "isRunning is true before start()",
  },
  {
    check: "start_blocks",
    runtime: "get isRunning() { return false; }",
    seen: "isRunning has not become true",
    waits: true,
  },
  {
    check: "start_blocks",
    runtime: "async start() { throw new Error('no port'); }",
    seen: "start() has rejected: no port",
  },
  {
    check: "stop_twice",
    runtime: `async stop() {
      if (this.ended) throw new Error("not running");
      await super.stop();
    }`,
    seen: "stop() has rejected: not running",
  },
  {
    check: "stop_before_start",
    runtime: `async stop() {
      if (!this.running && !this.ended) throw new Error("was not started");
      await super.stop();
    }`,
    seen: "stop() has rejected: was not started",
  },
  {
    check: "stop_before_start",
    runtime: "async start() { this.ended = false; await new Promise(() => {}); }",
    seen: "start() behind stop() has not ended",
    waits: true,
  },
  {
    check: "stop_while_starting",
    runtime: `async stop() {
      while (!this.isConnected && !this.closed) await new Promise((next) => setTimeout(next, 20));
      this.closed = true;
      await super.stop();
    }
    async start() {
      await new Promise((next) => setTimeout(next, 1_000));
      await super.start();
    }`,
    seen: "stop() has not resolved",
    waits: true,
  },
  {
    check: "nothing_left",
    runtime: `async start() {
      this.host.clock.after(400, () => {});
      await super.start();
    }`,
    seen: "1 timers of host.clock wait",
  },
  {
    check: "hears",
    runtime: `async take({ id, sender, text }) {
      await this.handleMessage({ senderId: "someone", chatId: "room", content: text, messageId: id });
    }`,
    seen: 'senderId is "someone"',
  },
  {
    check: "hears",
    runtime: `async take({ id, sender, text }) {
      await this.handleMessage({ senderId: sender, chatId: "room", content: text, messageId: 1 });
    }`,
    seen: "was not published",
    waits: true,
  },
  {
    check: "hears",
    runtime: `async take(message) { await super.take(message); await super.take(message); }`,
    seen: "published 2 times",
  },
  {
    check: "allow_from",
    runtime:
      "isAllowed(id) { return (this.config.allowFrom ?? []).some((one) => id.startsWith(one)); }",
    seen: '["*"] does not let in "alice"',
  },
  {
    check: "allow_from",
    runtime: `isAllowed(id) {
      return super.isAllowed(id) || (this.config.allowFrom ?? []).some((one) => id.startsWith(one));
    }`,
    seen: '["alice"] lets in "alice2"',
  },
  {
    check: "allow_from",
    runtime: `isAllowed(id) { return this.config.allowFrom?.length ? super.isAllowed(id) : true; }`,
    seen: 'an empty list lets in "alice"',
  },
  {
    check: "allow_from",
    runtime: `constructor(config, host) {
      super(config instanceof Map ? Object.fromEntries(config) : config, host);
    }`,
    seen: 'a Map as config lets in "alice"',
  },
  {
    check: "allow_from",
    runtime:
      `async handleMessage(message) { return await this.host.publish({ ...message, streaming: false }); }`,
    seen: "somebody whom allowFrom does not list was published",
  },
  {
    check: "acknowledges",
    runtime: `async hear(message) {
      this.platform.acknowledge(message.id);
      await this.take(message);
    }`,
    seen: "before publish() had resolved, and the message is lost",
    waits: true,
  },
  {
    check: "acknowledges",
    runtime: `async hear(message) {
      await this.take(message).catch(() => {});
      this.platform.acknowledge(message.id);
    }`,
    seen: "though publish() had rejected",
    waits: true,
  },
  {
    check: "acknowledges",
    runtime: "async hear(message) { await this.take(message); }",
    seen: "was not acknowledged though publish() has resolved",
    waits: true,
  },
  {
    check: "redelivery",
    runtime: `async take(message) { await super.take({ ...message, id: crypto.randomUUID() }); }`,
    seen: "it was",
  },
  {
    check: "redelivery",
    runtime: `async take(message) { await super.take({ ...message, id: "same" }); }`,
    seen: "two messages have the same messageId",
  },
  {
    check: "redelivery",
    runtime: `async take(message) { await super.take({ ...message, id: undefined }); }`,
    seen: "messageId is absent",
  },
  {
    check: "redelivery",
    openPlatform: () => Promise.resolve(Object.assign(new ToyPlatform(), { redeliver: undefined })),
    seen: "has no redeliver: give it one, or name redelivery under exempt with the reason",
  },
  {
    check: "own_messages",
    runtime: "async hear(message) { if (message.kind !== 'bot') await this.take(message); }",
    seen: "it heard itself",
  },
  {
    check: "bots",
    runtime: "async hear(message) { if (message.kind !== 'own') await this.take(message); }",
    seen: "it heard a bot",
  },
  {
    check: "delivers",
    runtime: "async send() { if (!this.isConnected) throw new Error('not yet'); }",
    seen: "has not arrived on the platform",
    waits: true,
  },
  {
    check: "delivers",
    runtime: "async send(message) { await super.send(message); await super.send(message); }",
    seen: "it arrived 2 times",
  },
  {
    check: "delivers",
    runtime: "async send(message) { await super.send({ ...message, chatId: 'elsewhere' }); }",
    seen: 'it arrived in "elsewhere"',
  },
  {
    check: "delivers",
    runtime: "async send() { await new Promise(() => {}); }",
    seen: "send() has not settled",
    waits: true,
  },
  {
    check: "send_before_ready",
    runtime: "async send(message) { if (this.isConnected) await super.send(message); }",
    seen: "it resolved",
  },
  {
    check: "send_before_ready",
    runtime: `async send(message) {
      if (!this.running) throw new Error("not running");
      if (this.isConnected) await super.send(message);
    }`,
    seen: "while-it-connects",
    waits: true,
  },
  {
    check: "send_after_stop",
    runtime: "async send(message) { if (!this.ended) await super.send(message); }",
    seen: "it resolved",
  },
  {
    check: "send_nothing",
    runtime: `post(message) {
      if (message.content === "") throw new Error("empty");
      super.post(message);
    }`,
    seen: 'it rejects "" with the event none: empty',
  },
  {
    check: "send_nothing",
    runtime: `post(message) {
      if (!this.isConnected || this.ended) throw new Error("not connected");
      this.platform.post({ chatId: message.chatId, text: message.content });
    }`,
    seen: 'it delivered ""',
  },
  {
    check: "send_nothing",
    runtime: "async send(message) { await super.send({ ...message, event: undefined }); }",
    seen: 'it delivered "of a kind that comes later"',
  },
  {
    check: "media",
    runtime: "async send(message) { await super.send({ ...message, media: [] }); }",
    seen: "has not arrived",
    waits: true,
  },
  {
    check: "permanent_faults",
    runtime: `async send(message) {
      await super.send(message).catch((error) => { throw new Error(error.message); });
    }`,
    seen: "it rejected with Error: The platform refuses it",
  },
  {
    check: "permanent_faults",
    runtime: `async send(message) {
      if (!this.isConnected || this.ended) throw new Error("not connected");
      await super.send(message).catch(() => {});
    }`,
    seen: "it resolved",
  },
  {
    check: "temporary_faults",
    runtime: `async send(message) {
      if (!this.isConnected) throw new Error("not connected");
      await super.send(message).catch((error) => {
        throw new PermanentDeliveryError(error.message);
      });
    }`,
    seen: "it rejected with PermanentDeliveryError: The platform has too much to do",
  },
  {
    check: "temporary_faults",
    runtime: `async send(message) {
      await super.send(message).catch((error) => { this.isConnected = false; throw error; });
    }`,
    seen: "the message behind it is rejected too",
  },
  {
    check: "goes_down",
    runtime: `async send(message) {
      if (!this.isConnected) throw new Error("not connected");
      await super.send(message).catch(() => {});
    }`,
    seen: "send() has not rejected",
    waits: true,
  },
  {
    check: "goes_down",
    runtime: `async send(message) {
      if (!this.isConnected) throw new Error("not connected");
      await super.send(message).catch(() => { throw new PermanentDeliveryError("gone"); });
    }`,
    seen: "it rejected for good: gone",
  },
  {
    check: "away_costs_nothing",
    runtime: `async send(message) {
      await super.send(message).catch((error) => { throw new Error(error.message); });
    }`,
    seen: "it rejected with Error: Not connected: the platform is away",
  },
  {
    check: "away_costs_nothing",
    runtime: `async send(message) {
      if (!this.isConnected) throw new Error("not connected");
      await super.send(message).catch(() => {});
    }`,
    seen: "send() has not rejected with one",
    waits: true,
  },
  {
    check: "secrets",
    runtime: "words(error) { return error.message; }",
    seen: "the value of token stands in an error",
  },
  {
    check: "secrets",
    runtime: `async start() {
      this.host.log.info("connecting", { config: this.config });
      await super.start();
    }`,
    seen: "the value of token stands in a line of the log",
  },
  {
    check: "secrets",
    runtime: `async start() {
      this.host.setDetail("as " + this.config.token);
      await super.start();
    }`,
    seen: "the value of token stands in a detail",
  },
  {
    check: "streams",
    runtime: "show(chatId, text) { return super.show(chatId, text); }",
    seen: "stands in 3 messages",
  },
  {
    check: "streams",
    runtime: "show(chatId, text, at) { return super.show(chatId, text.slice(-6), at); }",
    seen: "has not arrived as one text",
    waits: true,
  },
  {
    check: "streams_apart",
    runtime: "streamKey(chatId) { return chatId; }",
    seen: "has not arrived as one text",
    waits: true,
  },
  {
    check: "stream_retry",
    runtime: `show(chatId, text, at) {
      const stream = [...this.streams.values()].at(-1);
      if (stream) stream.text = text;
      return super.show(chatId, text, at);
    }`,
    seen: "has not arrived as one text",
    waits: true,
  },
  {
    check: "long_texts",
    runtime: "split(text) { return [text]; }",
    seen: "the platform takes 200",
  },
  {
    check: "long_texts",
    runtime: "split(text) { return text.match(/[^]{1,190}/g) ?? []; }",
    seen: "is lost, cut or not in its place",
  },
  {
    check: "long_texts",
    runtime: "split(text) { return super.split(text).slice(0, 2); }",
    seen: "has not arrived",
    waits: true,
  },
  {
    check: "long_code",
    runtime: "split(text) { return super.split(text).map((part) => part.replace(/\\n```$/, '')); }",
    seen: "a message has 1 fences",
  },
  {
    check: "hostile_texts",
    runtime: `async send(message) {
      if (message.content.includes("\\u0000")) throw new Error("bad byte");
      await super.send(message);
    }`,
    seen: "control characters makes send() reject: bad byte",
  },
  {
    check: "hostile_texts",
    runtime: `post(message) {
      super.post(message);
      const room = /PRIVMSG #(\\w+)/.exec(message.content)?.[1];
      if (room) super.post({ ...message, chatId: room, content: "y" });
    }`,
    seen: 'line ends of a wire arrives in the chat "all"',
  },
  {
    check: "hostile_texts",
    runtime: `async send(message) {
      if (message.content.includes("<script>")) return void await this.stop();
      await super.send(message);
    }`,
    seen: "behind HTML send() rejects",
  },
  {
    check: "typing",
    runtime: "showWork() {}",
    seen: "nobody sees that it is at work",
    waits: true,
  },
  {
    check: "typing",
    runtime: "showWork(isAtWork) { if (isAtWork) super.showWork(true); }",
    seen: "it still shows that it is at work",
    waits: true,
  },
  {
    check: "typing",
    openPlatform: () => Promise.resolve(Object.assign(new ToyPlatform(), { isTyping: undefined })),
    seen: "has no isTyping: give it one, or name typing under exempt with the reason",
  },
  {
    check: "buttons",
    runtime: "commandOf() { return 'yes'; }",
    seen: "was not published",
    waits: true,
  },
  {
    check: "buttons",
    runtime: `async take(message) {
      await super.take(message.click ? { ...message, sender: "bob" } : message);
    }`,
    seen: 'senderId is "bob", and "alice" clicked',
  },
  {
    check: "buttons",
    runtime: `async take(message) {
      await super.take(message.click ? { ...message, id: undefined } : message);
    }`,
    seen: "messageId of the click is absent",
  },
  {
    check: "buttons",
    runtime: `post(message) {
      if (message.event?.type !== "approval_resolved") super.post(message);
    }`,
    seen: "a click on an approval that was over was published as a command",
  },
  {
    check: "buttons",
    runtime: `post(message) {
      const { denyOnly, ...event } = message.event ?? {};
      super.post(denyOnly ? { ...message, event } : message);
    }`,
    seen: "an approval with denyOnly has a button that approves it",
  },
  {
    check: "buttons",
    runtime: `post(message) {
      super.post(message);
      if (message.event?.type === "approval") this.known = message.event.id;
    }
    commandOf(click) { return click.id === this.known ? super.commandOf(click) : "who?"; }`,
    seen: "/deny apr_",
    waits: true,
  },
  {
    check: "catch_up",
    runtime:
      `async hear(message) { if (this.heardOne) await super.hear(message); this.heardOne = true; }
    async start() { this.heardOne = this.platform.sent().length === 0; await super.start(); }`,
    seen: "was not published",
    waits: true,
  },
  {
    check: "catch_up",
    runtime: `async take(message) {
      await super.take(message);
      if (message.text.startsWith("away")) await super.take({ ...message, id: crypto.randomUUID() });
    }`,
    seen: "what came meanwhile was published as 2 messages",
  },
  {
    check: "catch_up",
    runtime: "async take(message) { await super.take({ ...message, at: undefined }); }",
    seen: "sentAt is absent",
  },
  {
    check: "login_refused",
    runtime: `async start() {
      await super.start().catch((error) => { throw new Error(error.message); });
    }`,
    seen: "start() has rejected: Cannot connect: The token [token] was revoked, with Error",
  },
  {
    check: "login_refused",
    runtime: `async send(message) {
      if (!this.isConnected) throw new Error("not connected");
      await super.send(message).catch((error) => { throw new Error(error.message); });
    }`,
    seen: "nothing has said that its token was revoked",
    waits: true,
  },
];

Deno.test("checkChannel() finds nothing wrong with a package that keeps every rule", async () => {
  assertEquals(await findingsOf(), []);
  const small = { setup: NO_FIELDS, management: undefined, connector: undefined };
  const files = {
    "validate.ts": null,
    "instances.ts": null,
    "connect.ts": null,
    "locales/de.json": toyLocale({ fields: {} }),
  };
  assertEquals(
    await findingsOf({ manifest: { ...small }, files }, [
      "manifest",
      "modules",
      "connector",
      "locales",
    ]),
    [],
  );
  // What it does not say that it can do is not asked of it.
  assertEquals(
    await findingsOf({ manifest: { capabilities: [] }, runtime: "showWork() {}" }, ["typing"]),
    [],
  );
});

for (const { check, seen, waits, ...wrong } of WRONG) {
  Deno.test(`${check} finds a package of which it says: ${seen}`, async () => {
    const { says } = CHANNEL_CHECKS.find(({ id }) => id === check)!;
    const [finding, ...others] = await findingsOf(wrong, [check], waits ? 600 : undefined);
    assertEquals(others, []);
    assert(finding !== undefined, "nothing was found");
    assertEquals(finding.check, check);
    assertStringIncludes(finding.message, `toy: ${says} (`);
    assertStringIncludes(finding.message, seen);
  });
}

Deno.test("each check has a package that breaks its rule, and words of its own", () => {
  const tried = new Set(WRONG.map(({ check }) => check));
  const untried = CHANNEL_CHECKS.map(({ id }) => id).filter((id) => !tried.has(id));
  // tests/example_channel_test.ts has the packages for it.
  assertEquals(untried, ["place"]);
  for (const words of ["id", "rule", "says"] as const) {
    assertEquals(new Set(CHANNEL_CHECKS.map((one) => one[words])).size, CHANNEL_CHECKS.length);
  }
});

Deno.test("checksFor() leaves out what is exempt with a reason, and looks at files alone without a platform", () => {
  const openPlatform = () => Promise.resolve(new ToyPlatform());
  const ids = (options: Parameters<typeof checksFor>[0]) => checksFor(options).map(({ id }) => id);
  assertEquals(ids({ openPlatform }).length, CHANNEL_CHECKS.length);
  assert(!ids({ openPlatform, exempt: { bots: "there are none" } }).includes("bots"));
  assertEquals(ids({}), ["manifest", "manifest_alone", "instances", "locales"]);
  assertThrows(() => checksFor({ exempt: { bot: "x" } }), RangeError, "no such check");
  assertThrows(() => checksFor({ exempt: { bots: " " } }), RangeError, "needs a reason");
});
