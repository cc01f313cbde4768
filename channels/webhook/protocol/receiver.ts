/**
 * Answers requests that bring messages: checked, written down, and only then acknowledged.
 *
 * @module
 */

import { join } from "@std/path";
import type { Clock } from "../../../lib/base/clock.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import { Rate } from "../../../lib/base/rate.ts";
import { ServiceError } from "../../../lib/base/errors.ts";
import { HeldRequests } from "./held_requests.ts";
import type { Collected, Mailbox } from "./mailbox.ts";
import { readRequest, type WebhookFile, type WebhookMessage } from "./read_request.ts";
import { readClaim, type Signer } from "./signature.ts";

/** Bodies that are held at once; each may have 16 MiB. */
const MAX_BODIES = 16;

/** What is said to come again later, seconds. */
const AGAIN_S = 5;

/** What a receiver is made of. */
export interface ReceiverDeps {
  path: string;
  signer: Signer;
  maxPerMinute: number;
  waitMs: number;
  /** Folder for files that came with messages. */
  filesDir: string;
  /** Hands a message to the service; resolves when it is on the disk. */
  handle: (message: HandledMessage) => Promise<Published>;
  /** The message has started a turn. */
  onAccepted: (message: HandledMessage) => void;
  mailbox: Mailbox;
  clock: Clock;
  fs: Pick<typeof Deno, "mkdir" | "writeFile" | "remove">;
  randomId: () => string;
}

/** How a request is answered beside its body. */
interface Answer {
  status: number;
  headers?: Record<string, string>;
}

export class Receiver {
  readonly #deps: ReceiverDeps;
  readonly #rate: Rate;
  readonly #held = new HeldRequests();
  #bodies = 0;

  constructor(deps: ReceiverDeps) {
    this.#deps = deps;
    this.#rate = new Rate(
      { perSecond: deps.maxPerMinute / 60, burst: Math.max(1, Math.ceil(deps.maxPerMinute / 4)) },
      deps.clock,
    );
  }

  /** Never rejects but with what the listener makes of a body that is too large. */
  async answer(request: Request): Promise<Response> {
    const { path, clock } = this.#deps;
    if (URL.parse(request.url)?.pathname !== path) {
      return refuse({ status: 404 }, "not_found", "There is nothing at this path");
    }
    if (request.method !== "POST") {
      const answer = { status: 405, headers: { allow: "POST" } };
      return refuse(answer, "method_not_allowed", "Messages come by POST");
    }
    if (!/^application\/json\s*(;|$)/i.test(request.headers.get("content-type") ?? "")) {
      return refuse({ status: 415 }, "unsupported_media_type", "Send application/json");
    }
    // Before a byte of the body is read.
    const claim = readClaim(request.headers, clock.now());
    if (claim === undefined) return unsigned();
    if (this.#bodies >= MAX_BODIES) return later(503, "Too many requests at once");
    this.#bodies += 1;
    let message: WebhookMessage;
    try {
      const body = new Uint8Array(await request.arrayBuffer());
      if (!await this.#deps.signer.isSigned(claim, body)) return unsigned();
      // Counted now, so that nobody without a secret uses it up.
      if (!this.#rate.take()) return later(429, "Too many messages a minute");
      message = readRequest(body);
    } catch (error) {
      return explain(error);
    } finally {
      this.#bodies -= 1;
    }
    const letGo = this.#held.hold(message.chatId);
    if (typeof letGo !== "function") return later(letGo.status, letGo.message);
    try {
      return await this.#take(claim.id, message, request.signal);
    } finally {
      letGo();
    }
  }

  async #take(id: string, message: WebhookMessage, signal: AbortSignal): Promise<Response> {
    const { handle, onAccepted, mailbox, waitMs } = this.#deps;
    const { wait } = message;
    // Opened before: the answer may be there as soon as the message is.
    const box = wait ? mailbox.open(id) : "known";
    if (box === "full") return later(503, "Too many requests wait for an answer");
    let published: Published;
    const handled = toHandled(id, message);
    try {
      published = await this.#withFiles(message.media, (media) => handle({ ...handled, media }));
    } catch (error) {
      if (box === "new") mailbox.drop(id);
      return explain(error);
    }
    if (published.kind === "denied") {
      if (box === "new") mailbox.drop(id);
      return refuse(
        { status: 403 },
        "forbidden_sender",
        `sender_id ${JSON.stringify(message.senderId.slice(0, 60))} is not listed in allowFrom`,
        "sender_id",
      );
    }
    const repeated = published.kind === "turn" && published.repeated;
    if (!repeated && published.kind === "turn") onAccepted(handled);
    const about = {
      ...published.kind === "turn" && { turn_id: published.turnId },
      repeated,
    };
    if (!wait) return json({ status: 202 }, { status: "accepted", ...about });
    if (published.kind === "command") mailbox.expectOne(id, "done");
    // Its turn has ended in another process, if it has: nobody says so again.
    else if (repeated && box === "new") mailbox.expectOne(id, "unknown");
    return waited(await mailbox.wait(id, waitMs, signal), about);
  }

  /** Files lie in the channel's folder until the service has read them. */
  async #withFiles<T>(
    files: readonly WebhookFile[],
    run: (paths: readonly string[]) => Promise<T>,
  ): Promise<T> {
    if (files.length === 0) return await run([]);
    const { fs, filesDir, randomId } = this.#deps;
    const folder = join(filesDir, randomId());
    try {
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      const paths: string[] = [];
      for (const [at, { name, bytes }] of files.entries()) {
        // Two may have the same name.
        const own = join(folder, String(at));
        await fs.mkdir(own, { mode: 0o700 });
        const path = join(own, name);
        await fs.writeFile(path, bytes, { mode: 0o600, createNew: true });
        paths.push(path);
      }
      return await run(paths);
    } finally {
      await fs.remove(folder, { recursive: true }).catch(() => {});
    }
  }
}

/** Key of the metadata that says which request a message came with. */
export const REQUEST_KEY = "webhook_id";

function toHandled(
  id: string,
  { id: ownId, chatId, senderId, senderName, text, metadata, wait }: WebhookMessage,
): HandledMessage {
  return {
    chatId,
    senderId,
    content: text,
    messageId: id,
    ...senderName !== undefined && { senderName },
    metadata: {
      [REQUEST_KEY]: id,
      ...wait && { wait },
      ...ownId !== undefined && { message_id: ownId },
      // One level down, where none of its names means anything to the service.
      ...metadata !== undefined && { data: metadata },
    },
  };
}

function waited({ status, replies }: Collected, about: object): Response {
  const body = {
    status: status ?? "running",
    ...about,
    text: replies.map(({ text }) => text).filter((text) => text !== "").join("\n\n"),
    replies,
  };
  return json({ status: status === undefined ? 202 : 200 }, body);
}

/** The same whatever failed: who guesses learns nothing from it. */
function unsigned(): Response {
  return refuse(
    { status: 401 },
    "invalid_signature",
    "The request is not signed as it must be: see webhook-id, webhook-timestamp, webhook-signature",
  );
}

function later(status: number, message: string): Response {
  const code = status === 429 ? "rate_limited" : "unavailable";
  return refuse({ status, headers: { "retry-after": String(AGAIN_S) } }, code, message);
}

/** Names of fields as they are in a request. */
const FIELD_NAMES: Readonly<Record<string, string>> = {
  chatId: "chat_id",
  senderId: "sender_id",
  senderName: "sender_name",
  content: "text",
};

function explain(error: unknown): Response {
  if (!(error instanceof ServiceError)) throw error;
  const { code, message } = error;
  const named = error.details.param;
  const param = named === undefined ? undefined : FIELD_NAMES[named] ?? named;
  switch (code) {
    case "invalid_request":
      return refuse({ status: 400 }, code, message, param);
    case "too_large":
      return refuse({ status: 413 }, code, message, param);
    case "queue_full":
      return later(429, message);
    case "draining":
      return later(503, "The service is about to stop");
    default:
      return refuse({ status: 500 }, "internal", "The message could not be taken: try again");
  }
}

function refuse(answer: Answer, code: string, message: string, param?: string): Response {
  return json(answer, { error: { message, code, param: param ?? null } });
}

function json({ status, headers }: Answer, body: object): Response {
  return Response.json(body, { status, headers: { ...headers, "cache-control": "no-store" } });
}
