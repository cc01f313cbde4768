/**
 * What somebody says with an event `m.room.message`: its text without what clients put around it, its
 * file, and what it relates to.
 *
 * @module
 */

import { matchMxc } from "../api/mxc.ts";
import type { Json } from "../api/matrix_api.ts";
import { AUTOMATED } from "../text/message_content.ts";
import { isId, list, type MatrixEvent, record } from "../sync/sync_answer.ts";
import type { HeardFile } from "./heard.ts";

export interface ReadMessage {
  text: string;
  /** Event of which this is the new text. */
  edits?: string;
  file?: HeardFile;
  threadId?: string;
  /** Event that it answers; never the one that stands in a thread for older clients. */
  replyTo?: string;
  /** User ids that it is meant for; undefined where the client does not say. */
  mentions?: readonly string[];
  /** HTML, for links to people in it. */
  html: string;
}

/** By which a program says that it is one; the first is for when that is stable. */
const AUTOMATED_KEYS: readonly string[] = ["m.automated", ...Object.keys(AUTOMATED)];

const FILES: readonly string[] = ["m.image", "m.file", "m.audio", "m.video"];

/** Characters of a file's name. */
const MAX_NAME_CHARS = 255;

/** A message of a person; undefined for notices, and what holds neither text nor a file. */
export function readMessage(
  event: Pick<MatrixEvent, "content">,
  senderName: string,
): ReadMessage | undefined {
  const relation = record(event.content["m.relates_to"]);
  const edits = relation.rel_type === "m.replace" ? relation.event_id : undefined;
  const content = record(edits && event.content["m.new_content"] || event.content);
  const { msgtype, body } = content;
  // Two programs that answer each other never end.
  if (AUTOMATED_KEYS.some((key) => content[key] === true)) return undefined;
  if (typeof body !== "string" || typeof msgtype !== "string") return undefined;
  const replyTo = record(relation["m.in_reply_to"]).event_id;
  const isReply = typeof replyTo === "string" && relation.is_falling_back !== true;
  const said = isReply ? withoutFallback(body) : body;
  const threadId = relation.rel_type === "m.thread" && typeof relation.event_id === "string"
    ? relation.event_id
    : undefined;
  const userIds = record(content["m.mentions"]).user_ids;
  const common = {
    html: htmlOf(content, isReply),
    ...typeof edits === "string" && isId(edits) && { edits },
    ...threadId?.startsWith("$") && { threadId },
    ...isReply && { replyTo },
    ...content["m.mentions"] !== undefined && {
      mentions: list(userIds).filter((id) => typeof id === "string"),
    },
  };
  if (msgtype === "m.text") return { text: said, ...common };
  // Never a command: it is told, not said.
  if (msgtype === "m.emote") return { text: `* ${senderName} ${said}`, ...common };
  if (!FILES.includes(msgtype)) return undefined;
  const file = fileOf(content, msgtype);
  return file && { text: captionOf(content, said), file, ...common };
}

/** A quote of what is answered, which clients put in front (client-server API, before v1.13). */
function withoutFallback(body: string): string {
  const lines = body.split("\n");
  if (!/^> (<|\* <)/.test(lines[0]!)) return body;
  let end = 0;
  while (end < lines.length && lines[end]!.startsWith("> ")) end += 1;
  while (end < lines.length && lines[end]!.trim() === "") end += 1;
  return lines.slice(end).join("\n");
}

/** Whoever is named in a quote is not spoken to. */
function htmlOf({ formatted_body: html }: Json, isReply: boolean): string {
  if (typeof html !== "string") return "";
  const end = isReply ? html.toLowerCase().lastIndexOf("</mx-reply>") : -1;
  return html.slice(end + 1);
}

function fileOf(content: Json, msgtype: string): HeardFile | undefined {
  const { file, filename, body } = content;
  // In an encrypted room its key stands beside its address.
  const { url = content.url, ...sealed } = record(file);
  if (typeof url !== "string" || matchMxc(url) === undefined) return undefined;
  const { size } = record(content.info);
  const name = [filename, body].find((one) => typeof one === "string" && one.trim() !== "");
  return {
    mxc: url,
    ...file !== undefined && { sealed: JSON.stringify(sealed) },
    name: typeof name === "string" ? name.slice(-MAX_NAME_CHARS).toWellFormed() : "file",
    ...Number.isSafeInteger(size) && Number(size) >= 0 && { size: size as number },
    isVoice: msgtype === "m.audio" &&
      (content["org.matrix.msc3245.voice"] !== undefined || content["m.voice"] !== undefined),
  };
}

/** Beside a `filename`, the body is what somebody says of the file (client-server API v1.10). */
function captionOf({ filename }: Json, said: string): string {
  return typeof filename === "string" && filename !== said ? said : "";
}
