/**
 * `service chat`: talk to a running service over its WebSocket port, here or far away.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { CHAT_ID } from "../../lib/contract/wire/frames.ts";
import { readFrame } from "../../lib/contract/wire/frames.ts";
import { WireClient } from "../../lib/contract/wire/wire_client.ts";
import { ask, type TurnClient } from "../agent/ask.ts";
import { gatherMessage, type MessageSources } from "../agent/gather_message.ts";
import { processSignals, type Signals, withInterrupts } from "../agent/interrupts.ts";
import { processSources } from "../agent/process_sources.ts";
import { wireAccess } from "../chat/wire_access.ts";
import { refusal, WireTurns } from "../chat/wire_turns.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";

/** What the command reaches outside of itself. */
export interface ChatCommandDeps {
  sources(out: Output): MessageSources;
  signals: Signals;
  env: (name: string) => string | undefined;
  fetch: typeof fetch;
  /** Address and secret of this home's own port, when none was given. */
  ownPort(globals: Globals): Promise<{ url: string; secret?: string }>;
}

const CANCELLING = "Cancelling; Ctrl-C again leaves at once";

/** Runs the command. */
async function runChat(invocation: Invocation, deps: ChatCommandDeps): Promise<ExitCode> {
  const asked = await readAsked(invocation, deps);
  if (asked.input === undefined && !asked.isWatching) return await talk(invocation, asked, deps);
  const wire = new Wire(asked, invocation.out);
  try {
    const ready = await wire.client.connect().catch(rethrow);
    wire.turns.attached(ready.chat_id);
    if (asked.isWatching) return await watch(invocation, deps, wire, asked.chat!);
    const chatId = asked.chat ?? ready.chat_id;
    const answering: Pick<TurnClient, "stream"> = {
      stream: (_op, { sessionKey, input }, { stop }) => wire.turns.turn(sessionKey, input, stop),
    };
    const { globals, options, out } = invocation;
    const onFirst = () => out.note({ text: CANCELLING, style: "dim" });
    const code = await withInterrupts(deps.signals, onFirst, (signal) =>
      ask(answering, out, {
        sessionKey: chatId,
        input: asked.input!,
        json: globals.json && "events",
        stream: options["no-stream"] !== true,
        verbose: globals.verbose,
        signal,
      }));
    if (!globals.json) out.note({ text: `Go on with: --chat ${chatId}`, style: "dim" });
    return code;
  } finally {
    wire.close();
  }
}

/** What the command line asks for; without `input` it is typed at the terminal. */
async function readAsked({ globals, options, out }: Invocation, deps: ChatCommandDeps) {
  const chat = options["chat"] as string | undefined;
  if (chat !== undefined) checkChatId(chat);
  const isWatching = options["watch"] === true;
  const input = isWatching ? undefined : await gatherMessage({
    message: options["message"] as string | undefined,
    files: options["file"] as string[] | undefined ?? [],
    useStdin: options["no-stdin"] !== true,
  }, deps.sources(out));
  if (isWatching && chat === undefined) {
    throw new ServiceError("usage", "--watch needs --chat ID: which chat to watch", {
      param: "chat",
    });
  }
  const given = options["url"] as string | undefined;
  const own = given === undefined ? await deps.ownPort(globals) : undefined;
  const url = parseUrl(given ?? own!.url);
  const secret = deps.env("SERVICE_TOKEN") ?? own?.secret;
  return {
    url,
    clientId: options["client-id"] as string | undefined,
    access: () => wireAccess({ url, secret, fetch: deps.fetch }),
    isOwnPort: own !== undefined,
    chat,
    isWatching,
    input,
  };
}

type Asked = Awaited<ReturnType<typeof readAsked>>;

/** The connection, and what comes over it. */
class Wire {
  readonly client: WireClient;
  readonly turns: WireTurns;
  /** Why nothing that is waited for will come. */
  failure: { error: unknown } | undefined;
  /** Frames of a chat that is watched, as they are printed. */
  printing = Promise.resolve();
  readonly #gone = Promise.withResolvers<void>();

  constructor({ url, clientId, access, chat, isWatching }: Asked, out: Output) {
    this.client = new WireClient({
      url: url.href,
      clientId,
      token: async () => (await access()).token,
      readFrame,
      onFrame: (frame) => {
        if (isWatching) {
          if (!("chat_id" in frame) || frame.chat_id !== chat) return;
          const print = () => out.stream(jsonLine(frame) + "\n");
          this.printing = this.printing.then(print).catch((error) => this.#fail(error));
        } else if (
          !this.turns.take(frame) && frame.event === "message" && frame.seq !== undefined
        ) {
          out.note({ text: `Message: ${frame.text}`, style: "bold" });
        }
      },
      onReset: (chatId) => {
        this.turns.beginAnew(chatId);
        out.note({ text: `${chatId} begins anew`, style: "yellow" });
      },
      onRefused: (chatId, error) => {
        if (isWatching && chatId === chat) this.#fail(error);
        else this.turns.fail(error, chatId);
      },
      onLost: (ms, error) => {
        // Another attempt would be refused alike.
        if (error instanceof ServiceError && error.code === "invalid_token") {
          return this.#fail(error);
        }
        const why = error instanceof Error ? error.message : String(error);
        out.note({
          text: `Connection lost; again in ${Math.ceil(ms / 1000)} s (${why})`,
          style: "yellow",
        });
      },
      onBack: () => out.note({ text: "Connected again", style: "dim" }),
    });
    this.turns = new WireTurns(this.client);
  }

  /** Resolves when it was closed. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  close(): void {
    this.#gone.resolve();
    this.client.close();
  }

  #fail(error: unknown): void {
    this.failure ??= { error };
    this.turns.fail(error);
    this.client.close(error);
    this.#gone.resolve();
  }
}

async function watch(
  { options }: Invocation,
  { signals }: ChatCommandDeps,
  wire: Wire,
  chatId: string,
): Promise<ExitCode> {
  return await withInterrupts(signals, () => wire.close(), async () => {
    const seen = options["replay"] === true ? { afterSeq: 0 } : undefined;
    await wire.client.attach(chatId, seen).catch(rethrow);
    await wire.gone;
    await wire.printing;
    if (wire.failure !== undefined) throw refusal(wire.failure.error);
    return EXIT.interrupted;
  });
}

function rethrow(error: unknown): never {
  throw refusal(error);
}

async function talk(
  { globals, options, out }: Invocation,
  { url, clientId, access, chat, isOwnPort }: Asked,
  { fetch }: ChatCommandDeps,
): Promise<ExitCode> {
  if (globals.json || !out.isErrorTerminal) {
    throw new ServiceError("usage", "A chat needs a terminal; or give -m TEXT", {
      param: "message",
    });
  }
  const [{ wireChat }, { addSessionGrant }] = await Promise.all([
    import("../terminal/wire_chat.ts"),
    import("../operator/approval_choices.ts"),
  ]);
  return await wireChat(globals, {
    url: url.href,
    clientId,
    access,
    fetch,
    chat,
    isStreamed: options["no-stream"] !== true,
    checkChatId,
    isOwnPort,
    // Only the owner of a home may grant.
    addGrant: isOwnPort ? (grant) => addSessionGrant(globals, out, grant) : undefined,
  });
}

function checkChatId(typed: string): string {
  if (CHAT_ID.test(typed)) return typed;
  throw new ServiceError(
    "usage",
    `The chat is ${JSON.stringify(typed.slice(0, 100))}; expected 1 to 64 of A-Z a-z 0-9 _ : -`,
    { param: "chat" },
  );
}

function parseUrl(typed: string): URL {
  const url = URL.parse(typed);
  if (url !== null && (url.protocol === "ws:" || url.protocol === "wss:") && url.hash === "") {
    return url;
  }
  throw new ServiceError(
    "usage",
    "--url is no address of a WebSocket; expected ws:// or wss://, such as ws://127.0.0.1:8765/",
    { param: "url" },
  );
}

/** Where this home's gateway listens, by its configuration. */
async function ownPort(globals: Globals): Promise<{ url: string; secret?: string }> {
  const { homePaths } = await import("../home_paths.ts");
  const { loadConfig } = await import("../../lib/settings/load.ts");
  const { config } = await loadConfig({
    paths: homePaths(globals),
    env: (name) => Deno.env.get(name),
    lastGood: globals.lastGood,
  });
  const { host, port, path, sslCertfile, tokenIssueSecret, token, publicWsUrl, socketPath } =
    config.channels.websocket;
  const secret = tokenIssueSecret || token || undefined;
  if (publicWsUrl !== "") return { url: publicWsUrl, secret };
  if (port === 0 || socketPath !== "") {
    throw new ServiceError("usage", "The configuration names no fixed port: give --url", {
      param: "url",
    });
  }
  const at = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const bracketed = at.includes(":") ? `[${at}]` : at;
  return { url: `${sslCertfile === "" ? "ws" : "wss"}://${bracketed}:${port}${path}`, secret };
}

const chatCommand: Command = {
  description:
    "Chats with a running gateway over its WebSocket port, on this machine or, with --url, on another " +
    "one. It reconnects by itself without losing or repeating messages. SERVICE_TOKEN holds a token " +
    "from service tokens issue --scopes read,chat, or the secret of the port. On this machine you " +
    "need none unless the configuration requires one. Anyone with a token and the id of a chat can " +
    "join it.",
  examples: [
    "service chat",
    'service chat --url wss://agent.example/ -m "What is new?"',
    'cat log | service chat --chat ops -m "What failed?"',
    "service chat --chat ops --watch --replay",
  ],
  options: [
    { name: "url", value: "URL", summary: "Address of the port (that of this home)" },
    { name: "message", alias: "m", value: "TEXT", summary: "Message; - reads it from stdin" },
    { name: "chat", value: "ID", summary: "Chat to continue (a new one)" },
    { name: "file", alias: "f", value: "PATH", repeatable: true, summary: "Attach a file" },
    { name: "watch", summary: "Print every frame of the chat as a JSON line; send nothing" },
    { name: "replay", summary: "With --watch, start at the first frame of the chat" },
    { name: "client-id", value: "ID", summary: "Name for channels.websocket.allowFrom" },
    { name: "no-stream", summary: "Print the answer only when it is complete" },
    { name: "no-stdin", summary: "Don't read standard input" },
  ],
  run: (invocation) =>
    runChat(invocation, {
      sources: processSources,
      signals: processSignals,
      env: (name) => Deno.env.get(name),
      fetch,
      ownPort,
    }),
};

export default chatCommand;
