/**
 * The shape of what operators ask about channels, checked where it is done: the service only passes it on.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../../base/errors.ts";
import type { ChannelRequest } from "./channel_request.ts";

/** Values, and texts of a query, that one request may hold. */
export const MAX_CHANNEL_VALUES = 200;

/** Characters of all values of a request, as JSON. */
export const MAX_CHANNEL_VALUES_CHARS = 256 * 1024;

/** Characters of one text of a query. */
export const MAX_QUERY_CHARS = 4_000;

/** Characters of a language. */
export const MAX_LOCALE_CHARS = 64;

const name = z.string().max(128);
const key = z.string().max(200);
const values = z.record(key, z.json());
const instance = { name, instanceId: name.optional() };
const query = z.record(key, z.string().max(MAX_QUERY_CHARS));

const channelRequest: z.ZodType<ChannelRequest> = z.discriminatedUnion("op", [
  z.strictObject({
    op: z.literal("channels.list"),
    name: name.optional(),
    locale: z.string().max(MAX_LOCALE_CHARS).optional(),
  }),
  z.strictObject({ op: z.literal("channels.validate"), ...instance, values }),
  z.strictObject({ op: z.literal("channels.set"), ...instance, values }),
  z.strictObject({ op: z.literal("channels.enable"), ...instance }),
  z.strictObject({ op: z.literal("channels.disable"), ...instance }),
  z.strictObject({
    op: z.literal("channels.connect"),
    name,
    action: z.enum(["start", "poll", "cancel"]),
    query,
  }),
]);

/** The request. Throws `invalid_request` and `too_large`, naming the part and never a value. */
export function checkChannelRequest(request: unknown): ChannelRequest {
  const parsed = channelRequest.safeParse(request);
  if (!parsed.success) {
    const { path, message, code } = parsed.error.issues[0]!;
    const [param = "request"] = path.map(String);
    // What stands deeper is named by the sender, and so is a field that nobody knows.
    const wrong = path.length > 1 || code === "unrecognized_keys"
      ? "it has not its shape"
      : message;
    throw new ServiceError("invalid_request", `${param}: ${wrong}`, { param });
  }
  const { data } = parsed;
  const held = "values" in data ? data.values : "query" in data ? data.query : {};
  const param = "values" in data ? "values" : "query";
  if (Object.keys(held).length > MAX_CHANNEL_VALUES) {
    throw new ServiceError("too_large", `${param} has more than ${MAX_CHANNEL_VALUES} entries`, {
      param,
    });
  }
  if (JSON.stringify(held).length > MAX_CHANNEL_VALUES_CHARS) {
    throw new ServiceError(
      "too_large",
      `${param} has more than ${MAX_CHANNEL_VALUES_CHARS} characters together`,
      { param },
    );
  }
  return data;
}
