/**
 * Takes clicks on buttons: the server posts them to a URL of ours, with the context of the button and the
 * id of who clicked.
 *
 * @module
 */

import type { ChannelHost, ChannelListener } from "../../../lib/channel/channel_host.ts";
import type { HandledMessage, Published } from "../../../lib/contract/inbound_message.ts";
import {
  type ApprovalClick,
  approvalCommand,
  readBounded,
  type ShownApprovals,
} from "../../../lib/channel/platform/mod.ts";
import { isId } from "../inbound/post.ts";
import type { Words } from "../words.ts";
import type { ActionContext, ApprovalAction } from "./action_context.ts";
import type { ApprovalPost } from "./approval_posts.ts";

/** What clicks are taken with. */
export interface ActionServerDeps {
  host: Pick<ChannelHost, "listen" | "log" | "clock">;
  address: { host: string; port: number };
  /** Under which the server reaches it; empty: as it listens. */
  publicUrl: string;
  context: ActionContext;
  approvals: Pick<ShownApprovals<ApprovalPost>, "get" | "claim" | "noteClick" | "release">;
  isAllowed: (senderId: string) => boolean;
  handleMessage: (message: HandledMessage) => Promise<Published>;
  words: Words;
}

/** The path of ours that clicks come to. */
const ACTIONS_PATH = "/mattermost/actions";

/** Bytes of a click: a context of ours and some names. */
const MAX_BODY_BYTES = 64 * 1024;

/** The server waits for 30 seconds; who clicked is told before that. */
const ANSWER_MS = 10_000;

export class ActionServer {
  readonly #deps: ActionServerDeps;
  readonly #listener: ChannelListener;
  /** For buttons. */
  readonly url: string;

  private constructor(deps: ActionServerDeps, listener: ChannelListener, url: string) {
    this.#deps = deps;
    this.#listener = listener;
    this.url = url;
  }

  /** Begins to listen. Rejects with `config_invalid`, naming the address and what to do. */
  static async open(deps: ActionServerDeps): Promise<ActionServer> {
    const opened: { server?: ActionServer } = {};
    const listener = await deps.host.listen(
      deps.address,
      (request) =>
        opened.server?.answer(request) ?? Promise.resolve(new Response(null, { status: 503 })),
    );
    const base = deps.publicUrl === "" ? listener.url.replace(/\/+$/, "") : deps.publicUrl;
    return opened.server = new ActionServer(deps, listener, `${base}${ACTIONS_PATH}`);
  }

  close(): Promise<void> {
    return this.#listener.close();
  }

  /** Answers a request; the words are shown to the one who clicked, and to nobody else. */
  async answer(request: Request): Promise<Response> {
    // A proxy in front may keep a path of its own before ours, or take it away.
    if (!new URL(request.url).pathname.endsWith(ACTIONS_PATH)) {
      return new Response("Not found", { status: 404 });
    }
    if (request.method !== "POST") {
      return new Response("Only POST", { status: 405, headers: { allow: "POST" } });
    }
    const body = await readBody(request);
    const action = await this.#deps.context.open(body?.context);
    const { user_id: userId, post_id: postId } = body ?? {};
    if (action === undefined || !isId(userId)) {
      return new Response("This is no click on a button of ours", { status: 403 });
    }
    const { approvals, isAllowed, words, host } = this.#deps;
    const say = (word: Parameters<Words>[0]) => Response.json({ ephemeral_text: words(word) });
    if (!isAllowed(userId)) return say("notAllowed");
    const shown = approvals.get(action.approvalId);
    const isOfPost = shown?.postId === "" ? isId(postId) : postId === shown?.postId;
    if (shown === undefined || !isOfPost) return say("expired");
    const clickId = crypto.randomUUID();
    const click = { approvalId: action.approvalId, senderId: userId, clickId };
    switch (approvals.claim(click)) {
      case "over":
      case "repeated":
        return say("answered");
      case "expired":
        return say("expired");
    }
    return await this.#publish(click, shown, action).then(
      () => say("taken"),
      (error) => {
        approvals.release(click);
        host.log.warning("A click could not be passed on", {
          reason: error instanceof Error ? error.message : String(error),
        });
        return say("failed");
      },
    );
  }

  /** Resolves when the service has it, or has it in a moment. */
  async #publish(
    click: ApprovalClick,
    { chatId, postId }: ApprovalPost,
    { verb, approvalId: id, digest }: ApprovalAction,
  ): Promise<void> {
    const { handleMessage, approvals, host: { clock } } = this.#deps;
    const { senderId } = click;
    const late = Promise.withResolvers<"late">();
    const cancel = clock.after(ANSWER_MS, () => late.resolve("late"));
    try {
      const published = handleMessage({
        senderId,
        chatId,
        content: approvalCommand({ isApproved: verb === "approve", id, digest }),
        messageId: `click:${postId}:${senderId}:${verb}`,
        sentAt: clock.now(),
      });
      const first = await Promise.race([published, late.promise]);
      if (first === "late") published.catch(() => {});
      approvals.noteClick(click);
    } finally {
      cancel();
    }
  }
}

async function readBody(request: Request): Promise<Record<string, unknown> | undefined> {
  try {
    const bytes = await readBounded(request, MAX_BODY_BYTES);
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes));
    return typeof body === "object" && body !== null ? body as Record<string, unknown> : undefined;
  } catch {
    return undefined;
  }
}
