/**
 * `input` of a responses request as messages for the tail rule: a text, a list of items, or the
 * content parts of one message of the user (document 1 part 2).
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../../errors.ts";
import { readDataUrl } from "../data_url.ts";
import { requestError } from "../request_error.ts";
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
  filename: z.string("the file's name, or no filename").nullish(),
  file_data: z.string("a data URL with base64 data; files are not known by id or URL"),
});

const PART_TYPES: readonly unknown[] = ["input_text", "input_image", "input_file"];

const partSchema = z.discriminatedUnion(
  "type",
  [textPart, imagePart, filePart],
  "a part of type input_text, input_image or input_file",
);

/** Content of a message of the turn. */
export const inputContentSchema = z.union([
  z.string(),
  z.array(partSchema).min(1, "a string, or a list of at least one content part"),
], "a string, or a list of content parts");

const role = "a role, such as user";

/** A message, as far as every one is looked at: those before the turn may hold anything. */
const messageItem = z.looseObject({
  type: z.literal("message").nullish(),
  role: z.string(role),
  content: z.unknown(),
}, "an item");

/** An item that an earlier answer had; it stands for the assistant. */
const referenceItem = z.looseObject({
  type: z.literal("item_reference").nullish(),
  id: z.string("the id of an item of an earlier response"),
});

const listOf = "a list of at least one item";

/** The field `input`, its items not yet looked at. */
export const inputSchema = z.union([
  z.string(),
  z.array(z.looseObject({}, "an item or a content part, an object"), "a list of items")
    .min(1, listOf),
], "a string, or a list of items or content parts");

/** A value of `input` that the schema accepts. */
export type Input = z.infer<typeof inputSchema>;

type Item = Record<string, unknown>;
type Content = z.infer<typeof inputContentSchema>;
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
export function inputMessages(input: Input): TailMessage[] {
  if (typeof input === "string") {
    return [{ role: "user", param: "input", parts: () => [{ type: "text", text: input }] }];
  }
  if (PART_TYPES.includes(input[0]?.type)) {
    return [{ role: "user", param: "input", parts: () => contentParts(input, ["input"]) }];
  }
  return input.map((item, index) => toMessage(item, ["input", index]));
}

function toMessage(item: Item, path: Path): TailMessage {
  const type = item.type ?? undefined;
  if (
    type === "item_reference" || (type === undefined && item.role === undefined && "id" in item)
  ) {
    check(referenceItem, item, path);
    return { role: "assistant", param: show(path), parts: () => [] };
  }
  if (type !== undefined && type !== "message") throw wrongType(type, path);
  const message = check(messageItem, item, path);
  return {
    role: message.role,
    param: show(path),
    parts: () => contentParts(message.content, [...path, "content"]),
  };
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

function contentParts(content: unknown, path: Path): RequestPart[] {
  const checked = check(inputContentSchema, content, path);
  if (typeof checked === "string") return [{ type: "text", text: checked }];
  return checked.map((part, index) => toPart(part, `${show(path)}[${index}]`));
}

function toPart(part: Exclude<Content, string>[number], param: string): RequestPart {
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

function check<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  path: Path,
): z.infer<Schema> {
  const checked = schema.safeParse(value);
  if (!checked.success) throw requestError(checked.error, value, path);
  return checked.data;
}

function show([first, ...rest]: Path): string {
  return rest.reduce<string>(
    (text, key) => typeof key === "number" ? `${text}[${key}]` : `${text}.${String(key)}`,
    String(first),
  );
}
