/**
 * `signal-cli daemon --tcp --receive-mode=manual` in multi-account mode, and the people on the other side:
 * its JSON-RPC as signal-cli-jsonrpc(5) and signal-cli's own sources have it, an object a line.
 *
 * It keeps what comes while nobody has subscribed, as Signal's server does, numbers messages by their time, and
 * refuses what signal-cli refuses, with its codes.
 */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";

/** Of the account. */
export const ACCOUNT = "+4915100000000";
export const ACCOUNT_ID = "00000000-aaaa-4aaa-8aaa-000000000000";
export const ANN = "11111111-aaaa-4aaa-8aaa-111111111111";
export const BEN = "22222222-aaaa-4aaa-8aaa-222222222222";
export const GROUP_ID = "Z3JvdXAtb2YtdGhlLXRlc3QtMDAwMDAwMDAwMDAwMDA=";
export const GROUP = `group:${GROUP_ID}`;

// deno-lint-ignore no-explicit-any -- JSON of any shape
type Json = any;

/** A message of the account, as it is now. */
export interface Posted {
  chatId: string;
  timestamp: number;
  /** Of each edit, the newest last; an edit has to name the newest. */
  edits: number[];
  text: string;
  textStyles: string[];
  quote?: { timestamp: number; author: string; text: string };
  files: { name: string; type: string; bytes: Uint8Array }[];
  isUrgent: boolean;
  isDeleted: boolean;
}

class Refusal extends Error {
  readonly code: number;
  readonly data: Json;
  constructor(code: number, message: string, data: Json = null) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

interface Client {
  say(message: Json): void;
  subscription?: number;
  close(): void;
}

export class FakeSignal implements ChannelPlatform {
  readonly senders = [ANN, BEN] as const;
  readonly chatId = GROUP;
  readonly limit = {
    max: 2_000,
    sizeOf: ({ text }: PlatformSent) => new TextEncoder().encode(text).length,
  };
  readonly posted: Posted[] = [];
  /** Methods and what they were given, in order. */
  readonly calls: { method: string; params: Json }[] = [];
  readonly reactions: { emoji: string; author: string; target: number; chatId: string }[] = [];
  readonly typing = new Set<string>();
  readonly attachments = new Map<string, Uint8Array>();
  /** Numbers of the accounts that signal-cli has. */
  readonly accounts = new Set([ACCOUNT]);
  /** Started with `-a`: no accounts are listed or linked. */
  hasOneAccount = false;
  readonly #listener: Deno.TcpListener;
  readonly #clients = new Set<Client>();
  readonly #receipts = new Set<number>();
  /** What nobody has subscribed for. */
  readonly #waiting: Json[] = [];
  readonly #links = new Map<string, PromiseWithResolvers<string>>();
  readonly #refusals: Refusal[] = [];
  readonly #serving: Promise<void>;
  #last: Json;
  #lastId = 0;
  #timestamp = Date.now();

  private constructor(listener: Deno.TcpListener) {
    this.#listener = listener;
    this.#serving = this.#serve();
  }

  // deno-lint-ignore require-await -- as the platforms of other channels
  static async open(port = 0): Promise<FakeSignal> {
    return new FakeSignal(Deno.listen({ hostname: "127.0.0.1", port }));
  }

  get port(): number {
    return this.#listener.addr.port;
  }

  get section() {
    return { account: ACCOUNT, host: "127.0.0.1", port: this.port };
  }

  // What people do.

  deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    if (from === "own") {
      const sentMessage = this.#data({ message: text, groupInfo: groupInfo() });
      this.#notify({ ...this.#from(ACCOUNT_ID, ACCOUNT), syncMessage: { sentMessage } });
      return Promise.resolve("own");
    }
    return Promise.resolve(String(this.writeInGroup(senderId, text)));
  }

  deliverAway(message: PlatformMessage): Promise<string> {
    return this.deliver(message);
  }

  /** Somebody sends what a data message holds; gives its timestamp. */
  write(senderId: string, data: Json): number {
    const dataMessage = this.#data(data);
    this.#notify({ ...this.#from(senderId), dataMessage });
    return dataMessage.timestamp;
  }

  /** Somebody mentions us in the group; gives the message's timestamp. */
  writeInGroup(senderId: string, text: string, more: Json = {}): number {
    const us = { name: ACCOUNT, number: ACCOUNT, uuid: ACCOUNT_ID, start: 0, length: 1 };
    const message = { message: `\uFFFC ${text}`, mentions: [us], groupInfo: groupInfo() };
    return this.write(senderId, { ...message, ...more });
  }

  /** Somebody writes with new keys, which signal-cli doesn't trust. */
  writeUntrusted(senderId: string): void {
    this.#notify(this.#from(senderId), { type: "UntrustedIdentityException", message: null });
  }

  /** Somebody edits a message of theirs, which they name by its newest edit; gives that of this one. */
  rewrite(senderId: string, targetSentTimestamp: number, message: string): number {
    const dataMessage = this.#data({ message });
    this.#notify({ ...this.#from(senderId), editMessage: { targetSentTimestamp, dataMessage } });
    return dataMessage.timestamp;
  }

  /** Somebody reacts to a message of ours. */
  react(senderId: string, emoji: string, { timestamp, edits, chatId }: Posted, more: Json = {}) {
    const reaction = {
      ...{ emoji, targetAuthor: ACCOUNT, targetAuthorNumber: ACCOUNT },
      ...{ targetAuthorUuid: ACCOUNT_ID, isRemove: false, ...more },
      targetSentTimestamp: edits.at(-1) ?? timestamp,
    };
    const isGroup = chatId.startsWith("group:");
    return this.write(senderId, { reaction, ...isGroup && { groupInfo: groupInfo() } });
  }

  pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const asking = this.posted.findLast(({ text }) => /Approval needed|\/approve/.test(text));
    // What is only to be denied offers nothing; who knows of 👍 may try it all the same.
    if (asking === undefined) return Promise.reject(new Error("Nothing asks"));
    if (button === "approve" && !asking.text.includes("👍")) {
      this.react(senderId, "👍", asking);
      return Promise.reject(new Error("It can't be approved"));
    }
    this.react(senderId, button === "approve" ? "👍🏽" : "👎", asking);
    return Promise.resolve();
  }

  /** Codes that nobody has scanned. */
  get links(): string[] {
    return [...this.#links.keys()];
  }

  /** Signal's app scans a code. */
  confirm(show: { qr?: string } | undefined): void {
    this.scan(show?.qr ?? "", ACCOUNT);
  }

  scan(uri: string, number: string): void {
    const link = this.#links.get(uri);
    if (link === undefined) throw new Error(`${uri} is no code that waits`);
    this.accounts.add(number);
    link.resolve(number);
  }

  /** Nobody has scanned a code in time. */
  expireLinks(): void {
    for (const link of this.#links.values()) {
      link.reject(new Refusal(-1, "Link request timed out, please try again."));
    }
  }

  refuseLinks(message: string, code = -1): void {
    for (const link of this.#links.values()) link.reject(new Refusal(code, message));
  }

  // What arrived.

  sent(): readonly PlatformSent[] {
    return this.posted.filter(({ isDeleted }) => !isDeleted).map(({ chatId, text, files }) => ({
      chatId,
      text,
      ...files.length > 0 && { files: files.map(({ name }) => name) },
    }));
  }

  acknowledged(): readonly string[] {
    return [...this.#receipts].map(String);
  }

  isTyping(): boolean {
    return this.typing.size > 0;
  }

  redeliver(): Promise<void> {
    return Promise.resolve(this.#notify(this.#last));
  }

  refuse(kind: "permanent" | "temporary"): void {
    if (kind === "temporary") {
      const why = "Failed to send message: Network is unreachable (ConnectException)";
      return this.refuseNext(-32_603, why);
    }
    const recipientAddress = { number: null, uuid: ANN };
    const results = [{ recipientAddress, type: "UNREGISTERED_FAILURE" }];
    this.refuseNext(-1, "Failed to send message", results);
  }

  /** The next `send` is refused. */
  refuseNext(code: number, message: string, results?: Json[]): void {
    const data = results === undefined ? null : { response: { timestamp: 1, results } };
    this.#refusals.push(new Refusal(code, message, data));
  }

  revoke(): void {
    this.accounts.delete(ACCOUNT);
  }

  /** Ends every connection; who comes again is let in. */
  cut(): void {
    for (const client of this.#clients) client.close();
  }

  async goDown(): Promise<void> {
    try {
      this.#listener.close();
    } catch {
      // It is down already.
    }
    this.cut();
    await this.#serving;
  }

  close(): Promise<void> {
    this.expireLinks();
    return this.goDown();
  }

  #from(senderId: string, number: string | null = null) {
    const name = senderId === ANN ? "Ann" : senderId === BEN ? "Ben" : "Somebody";
    const timestamp = ++this.#timestamp;
    return {
      ...{ source: number ?? senderId, sourceNumber: number, sourceUuid: senderId },
      ...{ sourceName: name, sourceDevice: 1, timestamp },
      ...{ serverReceivedTimestamp: timestamp, serverDeliveredTimestamp: timestamp },
    };
  }

  #data(data: Json) {
    return { timestamp: ++this.#timestamp, message: null, expiresInSeconds: 0, ...data };
  }

  #notify(envelope: Json, exception?: Json): void {
    this.#last = envelope;
    const all = [...this.#clients].filter(({ subscription }) => subscription !== undefined);
    if (all.length === 0) this.#waiting.push(envelope);
    for (const { say, subscription } of all) {
      const result = { envelope, account: ACCOUNT, ...exception !== undefined && { exception } };
      const params = { subscription, result };
      say({ jsonrpc: "2.0", method: "receive", params });
    }
  }

  async #serve(): Promise<void> {
    const open = new Set<Promise<void>>();
    try {
      for await (const connection of this.#listener) {
        const served = this.#talk(connection).finally(() => open.delete(served));
        open.add(served);
      }
    } catch {
      // It was closed.
    }
    await Promise.all(open);
  }

  async #talk(connection: Deno.Conn): Promise<void> {
    const writer = connection.writable.getWriter();
    const client: Client = {
      say: (message) =>
        void writer.write(new TextEncoder().encode(`${JSON.stringify(message)}\n`)).catch(() => {}),
      close() {
        writer.releaseLock();
        try {
          connection.close();
        } catch {
          // The other end was faster.
        }
      },
    };
    this.#clients.add(client);
    let rest = "";
    try {
      for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        // Calls are answered side by side.
        for (const line of lines) void this.#answer(JSON.parse(line), client);
      }
    } catch {
      // It was cut.
    }
    this.#clients.delete(client);
    client.close();
  }

  async #answer({ method, params, id }: Json, client: Client): Promise<void> {
    try {
      this.calls.push({ method, params });
      const result = await this.#perform(method, params ?? {}, client);
      client.say({ jsonrpc: "2.0", result: result ?? {}, id });
      if (method === "subscribeReceive") {
        for (const each of this.#waiting.splice(0)) this.#notify(each);
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, message, data } = error;
      client.say({ jsonrpc: "2.0", error: { code, message, data }, id });
    }
  }

  #perform(method: string, params: Json, client: Client): Json {
    switch (method) {
      case "listAccounts":
        if (this.hasOneAccount) throw new Refusal(-32_601, "Method not implemented");
        return [...this.accounts].map((number) => ({ number }));
      case "startLink":
      case "finishLink":
        if (this.hasOneAccount) throw new Refusal(-32_601, "Method not implemented");
        return method === "startLink" ? this.#startLink() : this.#finishLink(params);
    }
    if (!this.accounts.has(params.account)) {
      throw new Refusal(-32_602, "Specified account does not exist");
    }
    switch (method) {
      case "subscribeReceive":
        return client.subscription = ++this.#lastId;
      case "unsubscribeReceive":
        if (client.subscription !== params.subscription) {
          throw new Refusal(-1, "Unknown subscription id");
        }
        return client.subscription = undefined;
      case "getUserStatus":
        return params.recipient.map((recipient: string) => ({
          ...{ recipient, number: recipient, isRegistered: true },
          uuid: recipient === ACCOUNT ? ACCOUNT_ID : crypto.randomUUID(),
        }));
      case "send":
        return this.#send(params);
      case "sendTyping":
        if (params.stop) this.typing.delete(chatOf(params));
        else this.typing.add(chatOf(params));
        return this.#sentTo(params);
      case "sendReaction":
        this.reactions.push({
          ...{ emoji: params.emoji, author: params.targetAuthor, target: params.targetTimestamp },
          chatId: chatOf(params),
        });
        return this.#sentTo(params);
      case "sendReceipt":
        for (const each of params.targetTimestamps) this.#receipts.add(each);
        return this.#sentTo({ recipient: [params.recipient] });
      case "remoteDelete": {
        this.#find(params.targetTimestamp).isDeleted = true;
        return this.#sentTo(params);
      }
      case "getAttachment": {
        const bytes = this.attachments.get(params.id);
        if (bytes === undefined) {
          throw new Refusal(-1, `Could not find attachment with ID: ${params.id}`);
        }
        return { data: bytes.toBase64() };
      }
      default:
        throw new Refusal(-32_601, "Method not implemented");
    }
  }

  #startLink() {
    const deviceLinkUri =
      `sgnl://linkdevice?uuid=${crypto.randomUUID()}&pub_key=${crypto.randomUUID()}`;
    const link = Promise.withResolvers<string>();
    link.promise.catch(() => {});
    this.#links.set(deviceLinkUri, link);
    return { deviceLinkUri };
  }

  async #finishLink({ deviceLinkUri }: Json) {
    const link = this.#links.get(deviceLinkUri);
    if (link === undefined) throw new Refusal(-1, "Unknown device link uri.");
    try {
      return { number: await link.promise };
    } finally {
      this.#links.delete(deviceLinkUri);
    }
  }

  #send(params: Json) {
    const refusal = this.#refusals.shift();
    if (refusal !== undefined) throw refusal;
    const { message = "", attachments = [], textStyles = [], editTimestamp, noUrgent } = params;
    if (message === "" && attachments.length === 0) {
      throw new Refusal(-1, "Sending empty message is not allowed");
    }
    const sent = this.#sentTo(params);
    for (const style of textStyles) checkStyle(style, message);
    if (editTimestamp !== undefined) {
      const edited = this.#find(editTimestamp);
      edited.edits.push(sent.timestamp);
      Object.assign(edited, { text: message, textStyles });
      return sent;
    }
    const { quoteTimestamp: timestamp, quoteAuthor: author, quoteMessage: text } = params;
    this.posted.push({
      ...{
        chatId: chatOf(params),
        timestamp: sent.timestamp,
        edits: [],
        text: message,
        textStyles,
      },
      ...timestamp !== undefined && { quote: { timestamp, author, text } },
      files: attachments.map(fileOf),
      isUrgent: noUrgent !== true,
      isDeleted: false,
    });
    return sent;
  }

  /** By the newest time that it has: programs leave out what names an older one. */
  #find(timestamp: number): Posted {
    const found = this.posted.find((each) => (each.edits.at(-1) ?? each.timestamp) === timestamp);
    if (found === undefined) throw new Refusal(-1, `No message of ours has the time ${timestamp}`);
    return found;
  }

  #sentTo(params: Json) {
    const uuid = chatOf(params);
    const results = [{ recipientAddress: { uuid, number: null }, type: "SUCCESS" }];
    return { timestamp: ++this.#timestamp, results };
  }
}

/** As a group says it of a message. */
export function groupInfo() {
  return { groupId: GROUP_ID, groupName: "The group", revision: 1, type: "DELIVER" };
}

function chatOf({ groupId, recipient }: Json): string {
  if (groupId !== undefined) {
    if (groupId !== GROUP_ID) throw new Refusal(-1, "Group not found");
    return `group:${groupId}`;
  }
  const [one] = recipient;
  if (!/^(\+\d+|[0-9a-f-]{36})$/.test(one)) {
    throw new Refusal(-1, `Invalid phone number '${one}'`);
  }
  return one;
}

function checkStyle(style: string, message: string): void {
  const [, start, length] = /^(\d+):(\d+):(?:BOLD|ITALIC|SPOILER|STRIKETHROUGH|MONOSPACE)$/.exec(
    style,
  ) ?? [];
  if (length === undefined || Number(start) + Number(length) > message.length) {
    throw new Refusal(-1, `Invalid textStyle syntax (${style})`);
  }
}

function fileOf(uri: string): Posted["files"][number] {
  const [, type = "", name = "", data = ""] =
    /^data:(.+?\/.+?);filename=(.+?);base64,(.*)$/s.exec(uri) ?? [];
  if (data === "") throw new Refusal(-1, "The given string is not a valid data URI.");
  return { type, name: decodeURIComponent(name), bytes: Uint8Array.fromBase64(data) };
}
