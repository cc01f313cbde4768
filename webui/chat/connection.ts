/**
 * The one WebSocket of this page, and the chats that it carries.
 *
 * @module
 */

import { batch, effect, signal } from "@preact/signals";
import type { ServerFrame } from "../../lib/contract/wire/frames.ts";
import { WireClient } from "../../lib/contract/wire/wire_client.ts";
import { ApiError } from "../api/error.ts";
import { access, bootstrap, may } from "../api/session.ts";
import { attachmentOf } from "./attachment.ts";
import { Chat } from "./chat.ts";
import { filesOf, forgetUnsent, type Unsent, unsentMessages } from "./unsent.ts";

/** How the connection is. */
export const link = signal<"connecting" | "online" | "lost">("connecting");

/** Name of the default model, as the service said last. */
export const modelName = signal("");

/** Rises when the list of conversations may have changed. */
export const listChanges = signal(0);

const chats = new Map<string, Chat>();
let client: WireClient | undefined;
let socket: WebSocket | undefined;
let sessionPrefix = "";

/** Chats that are followed at once. The service takes 256 on a connection. */
const MAX_CHATS = 64;

/** Frames that are taken together: the page rests as long as it took to show those before them. */
const arrived: ServerFrame[] = [];
let shownInMs = 0;

/** Shortest and longest rest. A window out of sight shows nothing for as long as it is. */
const REST_MS = { min: 16, max: 500 };

/** Name that this page has for `channels.websocket.allowFrom`. */
const CLIENT_ID = "webui";

/** The chat of an id; it is opened when it is first asked for. `isNew`: nothing is on record of it. */
export function chatOf(id: string, { isNew = false } = {}): Chat {
  let chat = chats.get(id);
  if (chat !== undefined) {
    // What was asked for last is the last to go.
    chats.delete(id);
    chats.set(id, chat);
  } else {
    makeRoom();
    chat = new Chat({ key: sessionPrefix + id, id }, {
      client: () => client!,
      bufferedBytes: () => socket?.bufferedAmount ?? 0,
      onListChange: () => listChanges.value++,
    });
    chats.set(id, chat);
    void chat.open({ isNew });
  }
  return chat;
}

/** What is said in an audio. */
export function transcribe(dataUrl: string): Promise<string> {
  return client!.transcribe(dataUrl);
}

/** Leaves the chat that nobody has looked at for longest, and in which nothing happens. */
function makeRoom(): void {
  if (chats.size < MAX_CHATS) return;
  const idle = [...chats.values()].find(({ isBusy, state }) =>
    !isBusy.peek() && state.peek() !== "loading"
  );
  if (idle?.id === undefined) return;
  chats.delete(idle.id);
  client?.detach(idle.id);
}

/** Connects while somebody is let in who may. */
effect(() => {
  if (access.value.state !== "open") return close();
  if (!may({ scope: "read" }) && !may({ scope: "chat" })) return;
  const first = access.value.bootstrap;
  modelName.value = first.model_name;
  sessionPrefix = first.session_prefix;
  if (client !== undefined) return;
  let token = first.token;
  client = new WireClient({
    url: first.ws_url,
    clientId: CLIENT_ID,
    isPatient: true,
    async token() {
      const unused = token;
      token = undefined;
      if (unused !== undefined) return unused;
      const next = await bootstrap();
      // It may have been started again, with another model.
      modelName.value = next.model_name;
      return next.token;
    },
    open: (url, protocols) => socket = new WebSocket(url, protocols),
    // What the service of this very page says needs no schema.
    readFrame: (said) => said as ServerFrame,
    onFrame(frame) {
      if (arrived.push(frame) > 1) return;
      setTimeout(takeAll, Math.min(REST_MS.max, Math.max(REST_MS.min, shownInMs)));
    },
    onReset(id) {
      takeAll();
      chats.get(id)?.beginAnew();
    },
    onRefused: (id, error) => chats.get(id)?.refused(error),
    onLost(_ms, error) {
      // The session is closed, and the sign-in is shown.
      if (error instanceof ApiError && error.status === 401) return close();
      link.value = "lost";
    },
    onBack: () => link.value = "online",
  });
  client.connect().then(() => link.value = "online", () => {});
  void resend(unsentMessages());
});

/** Says again what wasn't accepted before the page was loaded anew, in order. */
async function resend(messages: readonly Unsent[]): Promise<void> {
  for (const message of messages) {
    const { chatId, id, text } = message;
    const files = await filesOf(message);
    if (files !== undefined) chatOf(chatId).send(text, { id, files: files.map(attachmentOf) });
    else await forgetUnsent(id).then(() => chatOf(chatId).lost(message));
  }
}

addEventListener("online", () => client?.hurry());
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) client?.hurry();
});

function close(): void {
  client?.close();
  client = undefined;
  chats.clear();
  arrived.length = 0;
  link.value = "connecting";
}

/** What has arrived, as one change: a model says more in a second than a screen can show. */
function takeAll(): void {
  const takenAt = performance.now();
  batch(() => arrived.splice(0).forEach(take));
  if (document.hidden) return;
  // The task behind the next frame runs once that is drawn.
  requestAnimationFrame(() => setTimeout(() => shownInMs = performance.now() - takenAt));
}

function take(frame: ServerFrame): void {
  if (frame.event === "runtime_model_updated") {
    modelName.value = frame.model_name;
    return;
  }
  if ("chat_id" in frame && frame.chat_id !== undefined) chats.get(frame.chat_id)?.take(frame);
}
