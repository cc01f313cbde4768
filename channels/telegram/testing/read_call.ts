/**
 * The parameters of a call, as the Bot API takes them.
 *
 * @module
 */

import { type Multipart, parseMultipart } from "./parse_multipart.ts";

/** JSON, or a form whose fields are JSON where they are no text. */
export async function readCall(
  request: Request,
): Promise<{ call: Record<string, unknown>; files: Multipart["files"] }> {
  const contentType = request.headers.get("content-type") ?? "";
  if (!contentType.startsWith("multipart/")) {
    const text = await request.text();
    return { call: text === "" ? {} : JSON.parse(text), files: {} };
  }
  const { fields, files } = parseMultipart(await request.bytes(), contentType);
  const call = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      /^[[{]/.test(value) && name !== "caption" ? JSON.parse(value) : value,
    ]),
  );
  return { call, files };
}
