/**
 * What a chat shows, as signals: a turn with the person's message and what the agent did, and what stands
 * between turns. Built alike from messages on record and from frames as they come.
 *
 * @module
 */

import { type Signal, signal } from "@preact/signals";
import type { Frame } from "../../lib/contract/wire/frames.ts";
import type { Answer } from "../api/client.ts";

/** A page of what is on record. */
export type RecordPage = Answer<"sessions.messages">;

/** A message on record. */
export type MessageRow = RecordPage["messages"][number];

/** A file that came or went. */
export interface ChatFile {
  name: string;
  /** Where it can be fetched; absent while it is on its way, and for one that is gone. */
  url?: string;
  isImage: boolean;
  bytes?: number;
}

/** What a person said. */
export interface UserMessage {
  text: string;
  files: readonly ChatFile[];
  /** Its place among the messages of people, where it is known. */
  index?: number;
}

/** How far a turn is. */
export type TurnStatus =
  /** Not accepted yet. */
  | "sending"
  /** Refused; `error` says why. */
  | "refused"
  | "waiting"
  | "running"
  | Frame<"turn_end">["status"];

/** How a tool call ended; undefined while it runs. */
export type CallStatus = Frame<"tool_result">["status"] | undefined;

/** A stretch of what the agent did. */
export type Block =
  | {
    kind: "text" | "reasoning";
    /** Of frames. */
    streamId?: string;
    text: Signal<string>;
    isOpen: Signal<boolean>;
    /** How long it took, where that was seen. */
    tookMs: Signal<number | undefined>;
    startedAt?: number;
  }
  | ToolBlock
  | { kind: "files"; files: readonly ChatFile[] }
  | { kind: "note"; text: string }
  | {
    kind: "approval";
    approval: Frame<"approval_requested">["approval"];
    outcome: Signal<Frame<"approval_resolved">["outcome"] | undefined>;
  };

/** A tool call. */
export interface ToolBlock {
  kind: "tool";
  callId?: string;
  tool: string;
  /** In a few words. */
  hint: string;
  isDone: Signal<boolean>;
  status: Signal<CallStatus>;
  /** What it says while it runs. */
  progress: Signal<string>;
  /** Where they are known already; else they are asked for. */
  detail: Signal<{ args: unknown; output?: string } | undefined>;
  tookMs: Signal<number | undefined>;
}

/** A turn. */
export interface Turn {
  kind: "turn";
  /** Stays when the turn gets its id: what it is rendered under. */
  key: string;
  /** Of the service; undefined until it is accepted. */
  id?: string;
  user: Signal<UserMessage | undefined>;
  blocks: Signal<readonly Block[]>;
  status: Signal<TurnStatus>;
  error: Signal<string | undefined>;
  usage: Signal<Frame<"turn_end">["usage"] | undefined>;
  models: Signal<Frame<"turn_end">["models"]>;
  tookMs: Signal<number | undefined>;
  /** Seconds since 1970, where it is known. */
  acceptedAt?: number;
  /** How much of its files was sent, 0 to 1; undefined without files, or when it is done. */
  uploaded: Signal<number | undefined>;
}

/** What a chat shows, in order. */
export type Item =
  | Turn
  /** A message of the agent that no turn of this chat said. */
  | { kind: "said"; key: string; text: string; files: readonly ChatFile[] }
  /** From here on the agent knows what was before as this summary. */
  | { kind: "summary"; key: string; text: string }
  /** A command of the chat, which is on no record. */
  | { kind: "command"; key: string; text: string; answer: Signal<string | undefined> };

/** Makes one in which nothing has happened. */
export function newTurn(
  key: string,
  status: TurnStatus,
  { id, user }: { id?: string; user?: UserMessage } = {},
): Turn {
  return {
    kind: "turn",
    key,
    ...id !== undefined && { id },
    user: signal(user),
    blocks: signal([]),
    status: signal(status),
    error: signal(undefined),
    usage: signal(undefined),
    models: signal(undefined),
    tookMs: signal(undefined),
    uploaded: signal(undefined),
  };
}

/** Makes a stretch of text. */
export function newText(kind: "text" | "reasoning", text: string, streamId?: string): Block {
  const isOpen = streamId !== undefined;
  return {
    kind,
    streamId,
    text: signal(text),
    isOpen: signal(isOpen),
    tookMs: signal(undefined),
    ...isOpen && { startedAt: performance.now() },
  };
}

/** Makes a tool call. */
export function newTool(tool: string, hint: string, callId?: string): ToolBlock {
  return {
    kind: "tool",
    tool,
    hint,
    ...callId !== undefined && { callId },
    isDone: signal(false),
    status: signal(undefined),
    progress: signal(""),
    detail: signal(undefined),
    tookMs: signal(undefined),
  };
}

/** Whether it has not ended. */
export function isUnderWay({ status }: Pick<Turn, "status">): boolean {
  return status.value === "running" || status.value === "waiting" || status.value === "sending";
}

/** Files of links of this port, whose address has their name. */
export function filesOfUrls(urls: readonly string[] = []): ChatFile[] {
  return urls.map((url) => {
    const name = new URL(url, location.href).searchParams.get("name") ?? "";
    return { name, url, isImage: /\.(png|jpe?g|gif|webp|avif)$/i.test(name) };
  });
}

/** The items of a page, oldest first. What the running turn has said comes as frames. */
export function itemsOf({ messages: rows, turns, live }: RecordPage): Item[] {
  const running = live?.running;
  const items: Item[] = [];
  let turn: Turn | undefined;
  for (const row of rows) {
    const key = `row-${row.id}`;
    if (row.role === "summary") {
      items.push({ kind: "summary", key, text: row.text });
      continue;
    }
    const isOfTurn = row.turn_id !== "" && (turn?.id === row.turn_id || row.role === "user");
    if (row.turn_id === "" && row.role === "assistant") {
      items.push({ kind: "said", key, text: row.text, files: filesOfUrls(row.media_urls) });
      turn = undefined;
      continue;
    }
    if (!isOfTurn || turn?.id !== row.turn_id) {
      turn = newTurn(key, row.turn_id === running ? "running" : "done", { id: row.turn_id });
      const known = turns.find(({ turn_id }) => turn_id === row.turn_id);
      if (known !== undefined && row.turn_id !== running) noteTurn(turn, known);
      items.push(turn);
    }
    if (row.role === "user") turn!.user.value = userOf(row);
    else if (row.turn_id !== running) addRow(turn!, row);
  }
  return items;
}

/** What a person said, of a message on record; one that waits has no place yet. */
export function userOf(
  row: Pick<Extract<MessageRow, { role: "user" }>, "text" | "attachments"> & {
    user_index?: number;
  },
): UserMessage {
  return {
    text: row.text,
    ...row.user_index !== undefined && { index: row.user_index },
    files: row.attachments.map(({ type, name, media_type, bytes, url }) => ({
      name: name ?? media_type,
      isImage: type === "image",
      bytes,
      url,
    })),
  };
}

/** How a turn on record ended. */
function noteTurn(
  turn: Turn,
  { status, detail, usage, models, accepted_at, took_ms }: RecordPage["turns"][number],
): void {
  turn.status.value = status === "queued" ? "waiting" : status;
  turn.error.value = detail;
  turn.usage.value = usage;
  turn.models.value = models;
  turn.tookMs.value = took_ms;
  turn.acceptedAt = accepted_at;
}

function addRow(turn: Turn, row: Exclude<MessageRow, { role: "user" | "summary" }>): void {
  if (row.role === "tool") {
    for (const { call_id, output, failed, took_ms } of row.results) {
      const block = turn.blocks.value.find((block) =>
        block.kind === "tool" && block.callId === call_id &&
        block.detail.value?.output === undefined
      );
      if (block?.kind !== "tool") continue;
      block.status.value = failed ? "failed" : "ok";
      block.tookMs.value = took_ms;
      block.detail.value = { args: block.detail.value?.args, output };
    }
    return;
  }
  const blocks: Block[] = [];
  if (row.reasoning) blocks.push(newText("reasoning", row.reasoning));
  if (row.text.trim() !== "") blocks.push(newText("text", row.text));
  for (const { call_id, tool, args } of row.tool_calls) {
    const block = newTool(tool, hintOf(tool, args), call_id);
    block.isDone.value = true;
    block.detail.value = { args };
    blocks.push(block);
  }
  const files = filesOfUrls(row.media_urls);
  if (files.length > 0) blocks.push({ kind: "files", files });
  turn.blocks.value = [...turn.blocks.value, ...blocks];
}

/** A call in a few words, where the service has not said them: its tool, and the first short argument. */
function hintOf(tool: string, args: unknown): string {
  const values = typeof args === "object" && args !== null ? Object.values(args) : [];
  const first = values.find((value) => typeof value === "string" && value !== "");
  const short = typeof first === "string" ? first.replace(/\s+/g, " ").slice(0, 80) : "";
  return short === "" ? tool : `${tool} ${short}`;
}
