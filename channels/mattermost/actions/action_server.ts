/**
 * Takes clicks on buttons: the server posts them to a URL of ours, with the context of the button and the
 * id of who clicked.
 *
 * @module
 */

import type { ChannelListener } from "../../../lib/channel/channel_host.ts";
import { type PlatformSession, readBounded } from "../../../lib/channel/platform/mod.ts";
import type { HeardPost } from "../inbound/heard_post.ts";
import { isId } from "../inbound/post.ts";
import type { MattermostConfig } from "../settings.ts";
import type { ActionContext } from "./action_context.ts";

/** What clicks are taken with. */
export interface ActionServerDeps {
  session: Pick<PlatformSession<HeardPost>, "host" | "click" | "words">;
  /** `actionsUrl`: under which the server reaches it; empty: as it listens. */
  settings: Pick<MattermostConfig, "actionsHost" | "actionsPort" | "actionsUrl">;
  context: ActionContext;
}

/** The path of ours that clicks come to. */
const ACTIONS_PATH = "/mattermost/actions";

/** Bytes of a click: a context of ours and some names. */
const MAX_BODY_BYTES = 64 * 1024;

export class ActionServer {
  readonly #listener: ChannelListener;
  /** For buttons. */
  readonly url: string;

  private constructor(listener: ChannelListener, publicUrl: string) {
    this.#listener = listener;
    const base = publicUrl === "" ? listener.url.replace(/\/+$/, "") : publicUrl;
    this.url = `${base}${ACTIONS_PATH}`;
  }

  /** Begins to listen. Rejects with `config_invalid`, naming the address and what to do. */
  static async open(deps: ActionServerDeps): Promise<ActionServer> {
    const { actionsHost: host, actionsPort: port, actionsUrl } = deps.settings;
    const listener = await deps.session.host.listen(
      { host, port },
      (request) => answer(request, deps),
    );
    return new ActionServer(listener, actionsUrl);
  }

  close(): Promise<void> {
    return this.#listener.close();
  }
}

/** Answers a request; the words are shown to the one who clicked, and to nobody else. */
async function answer(
  request: Request,
  { session, context }: ActionServerDeps,
): Promise<Response> {
  // A proxy in front may keep a path of its own before ours, or take it away.
  if (!new URL(request.url).pathname.endsWith(ACTIONS_PATH)) {
    return new Response("Not found", { status: 404 });
  }
  if (request.method !== "POST") {
    return new Response("Only POST", { status: 405, headers: { allow: "POST" } });
  }
  const body = await readBody(request);
  const action = context.open(body?.context);
  const { user_id: senderId, post_id: postId } = body ?? {};
  if (action === undefined || !isId(senderId)) {
    return new Response("This is no click on a button of ours", { status: 403 });
  }
  const { verb, approvalId, digest } = action;
  const outcome = await session.click({
    ...{ approvalId, digest, isApproved: verb === "approve", senderId },
    clickId: crypto.randomUUID(),
    chatId: "",
    isOn: (ref) => ref === postId,
  });
  return Response.json({ ephemeral_text: session.words(outcome) });
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
