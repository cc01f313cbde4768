/**
 * Messages as a model is given them: images are read from the media folder, documents are text under
 * a header line with their name, and other people's words are marked.
 *
 * @module
 */

import type { MediaStore } from "../media/types.ts";
import type {
  InputPart,
  Message,
  PromptMessage,
  PromptPart,
  UserPart,
} from "../contract/messages.ts";
import { fileText, promptText } from "./prompt_text.ts";
import { isOwn } from "../contract/text_part.ts";

/**
 * Bytes of images in one request: as many as one message may bring. A conversation can hold more than
 * a request can be long, and no provider takes as much.
 */
export const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

/**
 * The messages with their files loaded. An image whose file is gone leaves its place in words, and so
 * do the oldest ones when all would be more than {@linkcode MAX_IMAGE_BYTES}.
 */
export async function loadMessages(
  messages: readonly Message[],
  media: Pick<MediaStore, "read">,
): Promise<readonly PromptMessage[]> {
  // Nearly always: most conversations are text.
  if (messages.every(isPromptMessage)) return messages;
  const tooOld = imagesBeyond(messages, MAX_IMAGE_BYTES);
  return await Promise.all(messages.map(async (message) => {
    if (isPromptMessage(message)) return message;
    const parts = message.parts.map((part) =>
      isPromptPart(part) ? part : loadPart(part, { media, tooOld })
    );
    return { role: "user", parts: await Promise.all(parts) };
  }));
}

/** Bytes of the images that {@linkcode loadMessages} would load. */
export function imageBytes(messages: readonly Message[]): number {
  let bytes = 0;
  for (const message of messages) {
    if (message.role !== "user") continue;
    for (const part of message.parts) {
      if (part.type === "image" && "file" in part) bytes += part.file.bytes;
    }
  }
  return Math.min(bytes, MAX_IMAGE_BYTES);
}

/** The images, but for the newest ones that are `maxBytes` together. */
function imagesBeyond(messages: readonly Message[], maxBytes: number): ReadonlySet<UserPart> {
  const beyond = new Set<UserPart>();
  let bytes = 0;
  for (const message of messages.toReversed()) {
    if (message.role !== "user") continue;
    for (const part of message.parts.toReversed()) {
      if (part.type !== "image" || !("file" in part)) continue;
      bytes += part.file.bytes;
      if (bytes > maxBytes) beyond.add(part);
    }
  }
  return beyond;
}

/** The parts of a message that is nowhere on record. */
export function promptParts(input: readonly InputPart[]): PromptPart[] {
  return input.map((part) => {
    switch (part.type) {
      case "text":
        return { type: "text", text: promptText(part) };
      case "image":
        return { type: "image", mediaType: part.mediaType, data: part.bytes.toBase64() };
      case "document":
        return { type: "text", text: fileText(part.name, part.text) };
    }
  });
}

type PlainPart = Extract<PromptPart, { type: "image" }> | {
  type: "text";
  text: string;
  provenance?: "own";
};

function isPromptMessage(message: Message): message is Message & PromptMessage {
  return message.role !== "user" || message.parts.every(isPromptPart);
}

/** Whether it is given as it is kept. */
function isPromptPart(part: UserPart): part is UserPart & PlainPart {
  return part.type === "text" ? isOwn(part) : part.type === "image" && "data" in part;
}

async function loadPart(
  part: Exclude<UserPart, PlainPart>,
  { media, tooOld }: { media: Pick<MediaStore, "read">; tooOld: ReadonlySet<UserPart> },
): Promise<PromptPart> {
  if (part.type === "text") return { type: "text", text: promptText(part) };
  if (part.type === "document") return { type: "text", text: fileText(part.name, part.text) };
  const { mediaType, file } = part;
  if (tooOld.has(part)) {
    const text =
      `[An image (${mediaType}) stood here; it is left out to make room for newer ones.]`;
    return { type: "text", text };
  }
  const bytes = await media.read(file.sha256);
  if (bytes === undefined) {
    return { type: "text", text: `[An image (${mediaType}) stood here; its file is gone.]` };
  }
  return { type: "image", mediaType, data: bytes.toBase64() };
}
