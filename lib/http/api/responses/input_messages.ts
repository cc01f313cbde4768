/**
 * `input` of a responses request as messages for the tail rule: a text, a list of items, or the
 * content parts of one message of the user.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../../base/errors.ts";
import { readDataUrl } from "../data_url.ts";
import { check, checkEach } from "../../../listen/request_error.ts";
import type { RequestPart, TailMessage } from "../tail.ts";

const textPart = z.looseObject({
  type: z.literal("input_text"),
  text: z.string("a string"),
});

const imageUrl = "a data URL with base64 data; files are not known by id";

const imagePart = z.looseObject({
  type: z.literal("input_image"),
  image_url: z.union([z.string(), z.looseObject({ url: z.string(imageUrl) })], imageUrl),
});

const filePart = z.looseObject({
  type: z.literal("input_file"),
  filename: z.string("the name of the file").nullish(),
  file_data: z.string("a data URL with base64 data; files are not known by id or URL"),
});

const PART_TYPES: readonly unknown[] = ["input_text", "input_image", "input_file"];

const partSchema = z.discriminatedUnion(
  "type",
  [textPart, imagePart, filePart],
  "a part of type input_text, input_image or input_file",
);

const outerContentSchema = z.union([
  z.string(),
  z.array(z.unknown()).min(1, "a string, or a list of at least one content part"),
], "a string, or a list of content parts");

/** Content of a message of the turn. */
export const inputContentSchema = z.union([z.string(), z.array(partSchema).min(1)]);

/** A message, as far as every one is looked at: those before the turn may hold anything. */
const messageItem = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.string("a role, such as user"),
  content: z.unknown().optional(),
});

/** An item that an earlier answer had; it stands for the assistant. */
const referenceItem = z.looseObject({
  type: z.literal("item_reference").nullish(),
  id: z.string("the id of an item of an earlier response"),
});

const anyObject = z.looseObject(
  { type: z.unknown().optional() },
  "an item or a content part, an object",
);

/** The field `input`. */
export const inputSchema = z.union([
  z.string(),
  z.array(z.union([messageItem, referenceItem])).min(1),
  z.array(partSchema).min(1),
]);

/** The same, the members of a list not yet looked at: that is done one by one. */
export const outerInputSchema = z.union([
  z.string(),
  z.array(z.unknown()).min(1, "a list of at least one item"),
], "a string, or a list of items or content parts");

type Part = z.infer<typeof partSchema>;
type Path = readonly PropertyKey[];

/** Types that only a client with tools of its own would send. */
const REFUSED_TYPES: Readonly<Record<string, string>> = {
  function_call: "the service runs its own tools",
  function_call_output: "the service runs its own tools",
  reasoning: "the service keeps its own record of the conversation",
};

/**
 * The messages, in order; an `item_reference` counts as one of the assistant. Throws
 * `invalid_request` for an item of another type wherever it stands.
 */
export function inputMessages(input: z.infer<typeof outerInputSchema>): TailMessage[] {
  if (typeof input === "string") return [userMessage(() => [{ type: "text", text: input }])];
  const items = checkEach(anyObject, input, ["input"]);
  if (PART_TYPES.includes(items[0]!.type)) return [userMessage(() => toParts(items, ["input"]))];
  return items.map((item, index) => toMessage(item, ["input", index]));
}

function userMessage(parts: () => RequestPart[]): TailMessage {
  return { role: "user", param: "input", parts };
}

function toMessage(item: z.infer<typeof anyObject>, path: Path): TailMessage {
  const { type } = item;
  const isUntyped = type === undefined || type === null;
  if (type === "item_reference" || (isUntyped && !("role" in item) && "id" in item)) {
    check(referenceItem, item, path);
    return { role: "assistant", param: show(path), parts: () => [] };
  }
  if (!isUntyped && type !== "message") throw wrongType(type, path);
  const { role, content } = check(messageItem, item, path);
  return { role, param: show(path), parts: () => contentParts(content, [...path, "content"]) };
}

function wrongType(type: unknown, path: Path): ServiceError {
  const param = `${show(path)}.type`;
  const name = typeof type === "string" ? type : "";
  const why = Object.hasOwn(REFUSED_TYPES, name) ? `: ${REFUSED_TYPES[name]}` : "";
  const got = typeof type === "string" ? JSON.stringify(type.slice(0, 80)) : "no string";
  return new ServiceError(
    "invalid_request",
    `${param} must be message or item_reference, got ${got}${why}`,
    { param },
  );
}

function contentParts(value: unknown, path: Path): RequestPart[] {
  const content = check(outerContentSchema, value, path);
  return typeof content === "string" ? [{ type: "text", text: content }] : toParts(content, path);
}

function toParts(parts: readonly unknown[], path: Path): RequestPart[] {
  return checkEach(partSchema, parts, path).map((part, index) =>
    toPart(part, `${show(path)}[${index}]`)
  );
}

function toPart(part: Part, param: string): RequestPart {
  switch (part.type) {
    case "input_text":
      return { type: "text", text: part.text };
    case "input_image": {
      const { image_url } = part;
      const isText = typeof image_url === "string";
      const file = readDataUrl(isText ? image_url : image_url.url, {
        param: isText ? `${param}.image_url` : `${param}.image_url.url`,
        name: "",
        expects: "image",
      });
      return { type: "file", file };
    }
    case "input_file": {
      const { filename, file_data } = part;
      const name = filename ?? "";
      const file = readDataUrl(file_data, { param: `${param}.file_data`, name, expects: "any" });
      return { type: "file", file };
    }
  }
}

function show([first, ...rest]: Path): string {
  return rest.reduce<string>(
    (text, key) => typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`,
    String(first),
  );
}
