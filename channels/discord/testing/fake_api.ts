/**
 * Discord's HTTP API as far as a channel asks it: same addresses, bodies, codes and limits
 * (developer documentation, "API Reference", "Rate Limits", "Opcodes and Status Codes").
 *
 * @module
 */

import { done, type FakeAnswer, pings, problemOf, refused } from "./fake_answer.ts";
import type { FakeGateway } from "./fake_gateway.ts";
import { type FakeMessage, type FakeWorld, snowflake } from "./fake_world.ts";

/** A request that has come. */
export interface FakeCall {
  method: string;
  /** Without the version. */
  path: string;
  query: URLSearchParams;
  /** Its JSON; of a form, that of `payload_json`. */
  body: Readonly<Record<string, unknown>>;
  files: File[];
  headers: Headers;
}

/** An interaction that waits for its answer, and what it was answered. */
export interface FakeInteraction {
  id: string;
  token: string;
  channelId: string;
  answers: { type: number; data?: Record<string, unknown> }[];
  original?: FakeMessage;
}

const LOADING = 1 << 7;

export class FakeApi {
  token = "the-token-of-the-bot";
  appFlags = 1 << 19;
  readonly calls: FakeCall[] = [];
  readonly reactions: { messageId: string; emoji: string }[] = [];
  readonly typing: { channelId: string; atMs: number }[] = [];
  /** The message that had buttons last, and these, also when it has none any more. */
  shown: { message: FakeMessage; components: unknown[] } | undefined;
  readonly interactions = new Map<string, FakeInteraction>();
  readonly commands: Record<string, unknown>[] = [];
  readonly files = new Map<string, Uint8Array<ArrayBuffer>>();
  /** Answers the next calls that it is asked about; undefined leaves them alone. */
  intercept: (call: FakeCall) => FakeAnswer | undefined = () => undefined;
  /** Whether events tell the nonce of a message. */
  tellsNonces = true;
  /** Does what was asked, and cuts the connection before it says so. */
  cutsBehind: (call: FakeCall) => boolean = () => false;
  /** Does what was asked, and answers something else; undefined: what is so. */
  saysBehind: (call: FakeCall) => FakeAnswer | undefined = () => undefined;
  url = "";
  readonly #world: FakeWorld;
  readonly #gateway: FakeGateway;

  constructor(world: FakeWorld, gateway: FakeGateway) {
    this.#world = world;
    this.#gateway = gateway;
  }

  answer(call: FakeCall): FakeAnswer {
    this.calls.push(call);
    const intercepted = this.intercept(call);
    if (intercepted !== undefined) return intercepted;
    const isOpen = /^\/(interactions|webhooks)\//.test(call.path);
    if (!isOpen && call.headers.get("authorization") !== `Bot ${this.token}`) {
      return refused(401, 0, "401: Unauthorized");
    }
    const answer = this.#route(call);
    return this.cutsBehind(call) ? { ...answer, isCut: true } : this.saysBehind(call) ?? answer;
  }

  #route(call: FakeCall): FakeAnswer {
    const { method, path } = call;
    const routes: [string, RegExp, (...ids: string[]) => FakeAnswer][] = [
      ["GET", /^\/gateway\/bot$/, () => this.#gatewayInfo()],
      ["GET", /^\/users\/@me$/, () => done(this.#world.bot)],
      [
        "GET",
        /^\/applications\/@me$/,
        () => done({ id: this.#world.applicationId, name: "helper", flags: this.appFlags }),
      ],
      ["GET", /^\/users\/@me\/guilds$/, () => done([{ id: this.#world.guildId, name: "g" }])],
      ["GET", /^\/channels\/(\d+)$/, (id) => this.#channel(id!)],
      ["GET", /^\/channels\/(\d+)\/messages$/, (id) => this.#list(id!, call)],
      ["POST", /^\/channels\/(\d+)\/messages$/, (id) => this.#create(id!, call)],
      ["GET", /^\/channels\/(\d+)\/messages\/(\d+)$/, (id, one) => this.#get(id!, one!)],
      ["PATCH", /^\/channels\/(\d+)\/messages\/(\d+)$/, (id, one) => this.#edit(id!, one!, call)],
      ["DELETE", /^\/channels\/(\d+)\/messages\/(\d+)$/, (id, one) => this.#remove(id!, one!)],
      ["POST", /^\/channels\/(\d+)\/typing$/, (id) => {
        this.typing.push({ channelId: id!, atMs: Date.now() });
        return { status: 204 };
      }],
      ["PUT", /^\/channels\/\d+\/messages\/(\d+)\/reactions\/([^/]+)\/@me$/, (id, emoji) => {
        this.reactions.push({ messageId: id!, emoji: decodeURIComponent(emoji!) });
        return { status: 204 };
      }],
      [
        "POST",
        /^\/channels\/(\d+)\/messages\/(\d+)\/threads$/,
        (id, one) => this.#startThread(id!, one!, call),
      ],
      ["GET", /^\/applications\/\d+(?:\/guilds\/\d+)?\/commands$/, () => done(this.commands)],
      ["POST", /^\/applications\/\d+(?:\/guilds\/\d+)?\/commands$/, () => {
        this.commands.push({ id: snowflake(), ...call.body });
        return { status: 201, body: this.commands.at(-1) };
      }],
      ["DELETE", /^\/applications\/\d+(?:\/guilds\/\d+)?\/commands\/(\d+)$/, (id) => {
        const at = this.commands.findIndex((one) => one.id === id);
        if (at === -1) return refused(404, 10063, "Unknown application command");
        this.commands.splice(at, 1);
        return { status: 204 };
      }],
      [
        "POST",
        /^\/interactions\/(\d+)\/([^/]+)\/callback$/,
        (id, token) => this.#callback(id!, token!, call),
      ],
      ["GET", /^\/webhooks\/\d+\/([^/]+)\/messages\/@original$/, (token) => {
        const { original } = this.interactions.get(token!) ?? {};
        return original === undefined ? refused(404, 10008, "Unknown Message") : done(original);
      }],
      [
        "PATCH",
        /^\/webhooks\/\d+\/([^/]+)\/messages\/@original$/,
        (token) => this.#editOriginal(token!, call),
      ],
    ];
    for (const [verb, pattern, run] of routes) {
      const match = pattern.exec(path);
      if (verb === method && match !== null) return run(...match.slice(1));
    }
    return refused(404, 0, "404: Not Found");
  }

  #gatewayInfo(): FakeAnswer {
    const { remaining, resetAfterMs } = this.#gateway;
    return done({
      url: this.url.replace("http", "ws"),
      shards: 1,
      session_start_limit: {
        total: 1_000,
        remaining: Math.max(0, remaining),
        reset_after: resetAfterMs,
        max_concurrency: 1,
      },
    });
  }

  #channel(id: string): FakeAnswer {
    const channel = this.#world.channels.get(id);
    return channel === undefined ? refused(404, 10003, "Unknown Channel") : done(channel);
  }

  #list(channelId: string, { query }: FakeCall): FakeAnswer {
    if (!this.#world.channels.has(channelId)) return refused(404, 10003, "Unknown Channel");
    const after = BigInt(query.get("after") ?? 0);
    const found = this.#world.messages
      .filter(({ channel_id, id }) => channel_id === channelId && BigInt(id) > after)
      .slice(0, Number(query.get("limit") ?? 50));
    // A list names no server, and has the newest first.
    return done(found.map(({ guild_id: _, nonce: __, ...message }) => message).reverse());
  }

  #get(channelId: string, id: string): FakeAnswer {
    const message = this.#world.find(channelId, id);
    return message === undefined ? refused(404, 10008, "Unknown Message") : done(message);
  }

  #create(channelId: string, { body, files }: FakeCall): FakeAnswer {
    const world = this.#world;
    if (!world.channels.has(channelId)) return refused(404, 10003, "Unknown Channel");
    const content = String(body.content ?? "");
    const problem = problemOf(content, files);
    if (problem !== undefined) return problem;
    const { nonce, enforce_nonce: isEnforced } = body;
    const known = isEnforced === true
      ? world.messages.find((one) => one.nonce === nonce && one.channel_id === channelId)
      : undefined;
    if (known !== undefined) return done(known);
    const message = world.add(channelId, world.bot, content.trim(), {
      flags: Number(body.flags ?? 0),
      ...typeof nonce === "string" && { nonce },
      ...body.components !== undefined && { components: body.components as unknown[] },
      ...body.message_reference !== undefined &&
        { message_reference: body.message_reference as Record<string, unknown>, type: 19 },
      attachments: files.map((file) => this.#keep(file)),
      mention_everyone: pings(body, content),
    });
    const { components = [] } = message;
    if (components.length > 0) this.shown = { message, components };
    const { nonce: _, ...told } = message;
    this.#gateway.dispatch("MESSAGE_CREATE", this.tellsNonces ? message : told);
    return done(message);
  }

  #edit(channelId: string, id: string, { body }: FakeCall): FakeAnswer {
    const message = this.#world.find(channelId, id);
    if (message === undefined) return refused(404, 10008, "Unknown Message");
    const content = String(body.content ?? message.content);
    const problem = problemOf(content, message.attachments);
    if (problem !== undefined) return problem;
    Object.assign(message, {
      content: content.trim(),
      edited_timestamp: new Date().toISOString(),
      ...body.components !== undefined && { components: body.components },
    });
    this.#gateway.dispatch("MESSAGE_UPDATE", message);
    return done(message);
  }

  #remove(channelId: string, id: string): FakeAnswer {
    const { messages } = this.#world;
    const at = messages.findIndex((one) => one.channel_id === channelId && one.id === id);
    if (at === -1) return refused(404, 10008, "Unknown Message");
    messages.splice(at, 1);
    return { status: 204 };
  }

  #startThread(channelId: string, messageId: string, { body }: FakeCall): FakeAnswer {
    const world = this.#world;
    if (world.channels.get(channelId)?.type !== 0) {
      return refused(400, 50024, "Cannot execute action on this channel type");
    }
    if (world.channels.has(messageId)) {
      return refused(400, 160004, "A thread has already been created for this message");
    }
    const thread = world.addChannel(11, messageId, channelId);
    thread.name = String(body.name);
    return { status: 201, body: thread };
  }

  #callback(id: string, token: string, { body }: FakeCall): FakeAnswer {
    const interaction = this.interactions.get(token);
    if (interaction?.id !== id) return refused(404, 10062, "Unknown interaction");
    if (interaction.answers.length > 0) {
      return refused(400, 40060, "Interaction has already been acknowledged.");
    }
    interaction.answers.push(body as never);
    if (body.type === 5) {
      const { bot } = this.#world;
      interaction.original = this.#world.add(interaction.channelId, bot, "", { flags: LOADING });
    }
    return { status: 204 };
  }

  #editOriginal(token: string, { body, files }: FakeCall): FakeAnswer {
    const { original } = this.interactions.get(token) ?? {};
    if (original === undefined) return refused(404, 50027, "Invalid Webhook Token");
    const content = String(body.content ?? "");
    const problem = problemOf(content, files);
    if (problem !== undefined) return problem;
    Object.assign(original, {
      content: content.trim(),
      flags: original.flags & ~LOADING,
      attachments: files.map((file) => this.#keep(file)),
    });
    return done(original);
  }

  #keep(file: File): FakeMessage["attachments"][number] {
    const id = snowflake();
    const url = `${this.url}/files/${id}/${encodeURIComponent(file.name)}`;
    return { id, filename: file.name, size: file.size, url, proxy_url: url };
  }
}
