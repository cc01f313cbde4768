/**
 * The text of a response by its content type.
 *
 * @module
 */

import { formatBytes, SNIFF_BYTES, sniffText } from "./text.ts";

const TEXT_TYPE =
  /^(text\/.*|application\/(json|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|x-ndjson|graphql|sql|x-sh)|.*\+(json|xml|yaml))$/;
const HTML_TYPE = /^(text\/html|application\/xhtml\+xml)$/;

/** The text of a body as it came, and whether it is HTML. Throws, naming the type, when it is no text. */
export function decodeBody(
  body: Uint8Array,
  contentType: string,
): { source: string; isHtml: boolean } {
  const [type = ""] = contentType.toLowerCase().split(";");
  const mediaType = type.trim();
  const head = body.subarray(0, SNIFF_BYTES);
  const sniffed = sniffText(head);
  if (
    sniffed === undefined || (mediaType !== "" && !TEXT_TYPE.test(mediaType) && !isLoose(mediaType))
  ) {
    const named = mediaType === "" ? "no type, and no text" : mediaType;
    throw new Error(`it is ${named} (${formatBytes(body.length)}), expected text`);
  }
  const label = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1] ??
    (sniffed === "utf-8" ? metaCharset(head) : sniffed);
  const text = decode(body, label);
  const isHtml = HTML_TYPE.test(mediaType) ||
    (mediaType === "" && /^\s*<(!doctype html|html|head|body)\b/i.test(text));
  return { source: text, isHtml };
}

/** Servers say this of anything that they do not know, text too. */
function isLoose(mediaType: string): boolean {
  return mediaType === "application/octet-stream" || mediaType === "binary/octet-stream";
}

function metaCharset(head: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(head);
  return /<meta\s[^>]*charset\s*=\s*["']?([\w.:-]+)/i.exec(text)?.[1] ?? "utf-8";
}

function decode(bytes: Uint8Array, label: string): string {
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}
