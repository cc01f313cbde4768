/**
 * The result of an MCP tool as text for a model. What is no text is named with its type and size.
 *
 * @module
 */

import { cutOutput } from "../rpc/cut_output.ts";

/** Blocks of one result; of more, only the number is told. */
const MAX_BLOCKS = 1_000;
/** Characters of a name, a type or an address in a note. */
const MAX_NOTE_CHARS = 300;

/** What a server answers; anything may be anything. */
export interface RawResult {
  content?: unknown;
  structuredContent?: unknown;
}

/** The text of at most `maxBytes` bytes, 200 at least; a cut is stated. */
export function renderResult({ content, structuredContent }: RawResult, maxBytes: number): string {
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.slice(0, MAX_BLOCKS).map(renderBlock);
  if (blocks.length > MAX_BLOCKS) parts.push(`[${blocks.length - MAX_BLOCKS} more parts]`);
  if (structuredContent !== undefined && !saysTheSame(blocks, structuredContent)) {
    parts.push(written(structuredContent));
  }
  const text = parts.join("\n\n").toWellFormed();
  return cutOutput(text === "" ? "[The tool gave an empty result.]" : text, maxBytes);
}

function written(structured: unknown): string {
  try {
    return JSON.stringify(structured, null, 2);
  } catch {
    // What could be read may be nested deeper than what can be written.
    return "[structured content that is nested too deep to be shown]";
  }
}

function renderBlock(block: unknown): string {
  if (!isObject(block)) return "[a part that is none]";
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? block.text : "[a text that is none]";
    case "image":
    case "audio":
      return `[${block.type}: ${note(block.mimeType)}, ${sizeOf(block.data)}, not shown]`;
    case "resource":
      return renderResource(block.resource);
    case "resource_link": {
      const facts = [note(block.uri)];
      if (typeof block.mimeType === "string") facts.push(note(block.mimeType));
      if (typeof block.size === "number") facts.push(`${block.size} bytes`);
      const name = block.name === undefined ? "" : ` "${note(block.name)}"`;
      return `[link to a resource${name}: ${facts.join(", ")}]`;
    }
    default:
      return `[a part of the type ${note(block.type)}, not shown]`;
  }
}

function renderResource(resource: unknown): string {
  if (!isObject(resource)) return "[a resource that is none]";
  const { uri, mimeType, text, blob } = resource;
  const type = typeof mimeType === "string" ? `, ${note(mimeType)}` : "";
  if (typeof text === "string") return `[resource ${note(uri)}${type}]\n${text}`;
  return `[resource ${note(uri)}${type}, ${sizeOf(blob)}, not shown]`;
}

/** Servers repeat structured content as text for clients that know only that. */
function saysTheSame(blocks: readonly unknown[], structured: unknown): boolean {
  const said = JSON.stringify(structured);
  return blocks.some((block) => {
    if (!isObject(block) || block.type !== "text" || typeof block.text !== "string") return false;
    try {
      return JSON.stringify(JSON.parse(block.text)) === said;
    } catch {
      return false;
    }
  });
}

/** Of base64. */
function sizeOf(data: unknown): string {
  if (typeof data !== "string") return "of unknown size";
  const padding = data.endsWith("==") ? 2 : data.endsWith("=") ? 1 : 0;
  return `${Math.max(0, Math.floor(data.length * 3 / 4) - padding)} bytes`;
}

/** On one line. */
function note(value: unknown): string {
  if (typeof value !== "string" || value === "") return "unknown";
  const line = value.replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ");
  return line.length <= MAX_NOTE_CHARS ? line : `${line.slice(0, MAX_NOTE_CHARS).toWellFormed()}…`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
