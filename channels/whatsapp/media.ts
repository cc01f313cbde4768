/**
 * Files on WhatsApp's servers, which hold them encrypted: the key goes from person to person, in the message.
 * The client library would leave them in the folder for temporary files, which a channel may not touch.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { randomBytes, timingSafeEqual } from "node:crypto";
import {
  aesDecryptWithIV,
  aesEncrypWithIV,
  getMediaKeys,
  hmacSign,
  MEDIA_PATH_MAP,
  type MediaType,
  type proto,
  sha256,
  type WASocket,
} from "baileys";
import type { Clock } from "../../lib/base/clock.ts";
import { PermanentDeliveryError } from "../../lib/channel/delivery_error.ts";
import {
  boundedFetch,
  ifTooLarge,
  mediaTypeOf,
  type OutgoingFile,
  pictureSize,
  UnreadableFileError,
} from "../../lib/channel/platform/mod.ts";
import type { HeardFile } from "./heard_message.ts";

/** Files are encrypted as a whole. */
export const MAX_FILE_BYTES = 64 * 1024 * 1024;

/** A larger picture goes as a document, and as it is. */
const MAX_PICTURE_BYTES = 5 * 1024 * 1024;

const MAC_BYTES = 10;

/** What encryption adds. */
const MAX_ADDED_BYTES = 16 + MAC_BYTES;

/** Below the two minutes after which the service takes a call for lost. */
const FILE_MS = 110_000;

const MAX_ANSWER_BYTES = 64 * 1024;

/** A file that was uploaded. */
export interface UploadedFile {
  name: string;
  /** As a message, with a text beside it where it has room for one. */
  contentWith(text: string, context: proto.IContextInfo): proto.IMessage;
  takesText: boolean;
}

/** A connection. */
export interface Link {
  socket: WASocket;
  /** Files are fetched over TLS, as long as the server itself is spoken to so. */
  isPlain: boolean;
  /** Aborted at its end. */
  signal: AbortSignal;
  clock: Pick<Clock, "after">;
}

/** Undefined for more bytes. Rejects with an `UnreadableFileError` where nobody has it any more. */
export async function download(
  { path, key, kind }: HeardFile,
  maxBytes: number,
  link: Link,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  for (const { base } of await basesOf(link)) {
    const url = URL.parse(path, base);
    if (url?.host !== base.host) throw new UnreadableFileError("its address is wrong");
    const answer = await ask(url, {}, maxBytes + MAX_ADDED_BYTES, link);
    if (answer === undefined) return undefined;
    if (answer.ok) return await opened(Buffer.from(await answer.arrayBuffer()), key, kind);
    if (answer.status >= 500) throw new Error(`The file server answers with ${answer.status}`);
  }
  throw new UnreadableFileError("it is no longer on the server");
}

async function opened(
  sealed: Buffer,
  key: string,
  kind: MediaType,
): Promise<Uint8Array<ArrayBuffer>> {
  const { iv, cipherKey, macKey } = await getMediaKeys(Buffer.from(key, "base64"), kind);
  const data = sealed.subarray(0, -MAC_BYTES);
  const mac = hmacSign(Buffer.concat([iv, data]), macKey!).subarray(0, MAC_BYTES);
  const said = sealed.subarray(-MAC_BYTES);
  if (said.length !== MAC_BYTES || !timingSafeEqual(mac, said)) {
    throw new UnreadableFileError("it is damaged");
  }
  return new Uint8Array(aesDecryptWithIV(data, cipherKey, iv));
}

/** Hands a file over. Rejects with what a repeat may mend, or with a `PermanentDeliveryError`. */
export async function upload(file: OutgoingFile, link: Link): Promise<UploadedFile> {
  const mimetype = mediaTypeOf(file.name);
  const kind = kindOf(mimetype, file.bytes);
  const bytes = await Deno.readFile(file.path);
  const mediaKey = randomBytes(32);
  const { iv, cipherKey, macKey } = await getMediaKeys(mediaKey, kind);
  const data = aesEncrypWithIV(Buffer.from(bytes), Buffer.from(cipherKey), Buffer.from(iv));
  const mac = hmacSign(Buffer.concat([iv, data]), macKey!).subarray(0, MAC_BYTES);
  const sealed = Buffer.concat([data, mac]);
  const fileEncSha256 = sha256(sealed);
  const { url, directPath } = await put(sealed, kind, fileEncSha256, link);
  const media = {
    ...{ url, directPath, mediaKey, mimetype, fileEncSha256 },
    fileSha256: sha256(Buffer.from(bytes)),
    fileLength: bytes.length,
    mediaKeyTimestamp: Math.floor(Date.now() / 1_000),
  };
  return {
    name: file.name,
    takesText: kind !== "audio",
    contentWith(caption, contextInfo) {
      switch (kind) {
        case "image":
          return { imageMessage: { ...media, ...pictureSize(bytes), caption, contextInfo } };
        case "video":
          return { videoMessage: { ...media, caption, contextInfo } };
        case "audio": {
          const ptt = mimetype === "audio/ogg";
          const type = ptt ? "audio/ogg; codecs=opus" : mimetype;
          return { audioMessage: { ...media, ptt, mimetype: type, contextInfo } };
        }
        default:
          return { documentMessage: { ...media, fileName: file.name, caption, contextInfo } };
      }
    },
  };
}

/** What clients show in place; anything else is a document. */
function kindOf(mimetype: string, bytes: number): "image" | "video" | "audio" | "document" {
  if (/^image\/(?:jpeg|png)$/.test(mimetype) && bytes <= MAX_PICTURE_BYTES) return "image";
  if (mimetype === "video/mp4") return "video";
  return /^audio\/(?:ogg|mpeg|mp4|aac)$/.test(mimetype) ? "audio" : "document";
}

async function put(
  sealed: Buffer<ArrayBuffer>,
  kind: MediaType,
  digest: Buffer,
  link: Link,
): Promise<{ url: string; directPath: string }> {
  const token = digest.toString("base64url");
  for (const { base, auth } of await basesOf(link)) {
    const url = new URL(`${MEDIA_PATH_MAP[kind]}/${token}`, base);
    url.search = new URLSearchParams({ auth, token }).toString();
    const headers = {
      "content-type": "application/octet-stream",
      origin: "https://web.whatsapp.com",
    };
    const init = { method: "POST", headers, body: sealed };
    const answer = await ask(url, init, MAX_ANSWER_BYTES, link);
    if (answer?.ok) {
      const { url, direct_path: directPath } = await answer.json();
      if (typeof url === "string" && typeof directPath === "string") return { url, directPath };
    }
    if (answer?.status === 413) throw new PermanentDeliveryError("it is too large");
  }
  throw new Error("No file server has taken the file");
}

/** Undefined for an answer of more bytes. */
async function ask(
  url: URL,
  init: RequestInit,
  maxBytes: number,
  { clock, signal }: Link,
): Promise<Response | undefined> {
  const bounds = { peer: "The file server", timeoutMs: FILE_MS, maxBytes, clock, signal };
  return await boundedFetch(url, init, bounds).catch(ifTooLarge);
}

/** The first is the nearest. */
async function basesOf({ socket, isPlain }: Link): Promise<{ base: URL; auth: string }[]> {
  const { hosts, auth } = await socket.refreshMediaConn();
  return hosts.map(({ hostname }) => ({
    base: new URL(`${isPlain ? "http" : "https"}://${hostname}`),
    auth,
  }));
}
