/**
 * Posts as Slack does in the mode http.
 *
 * @module
 */

import { SlackSignature } from "../http/slack_signature.ts";

/** How a request is made. */
export interface SignedPost {
  secret?: string;
  /** When it says that it was made. */
  atMs?: number;
  /** As clicks come. */
  isForm?: boolean;
  headers?: Record<string, string>;
  /** Its signature lacks its end. */
  cut?: boolean;
}

/** Resolves with the answer, read to its end. */
export async function postSigned(
  url: string,
  payload: unknown,
  { secret = "", atMs = Date.now(), isForm = false, headers = {}, cut = false }: SignedPost,
): Promise<Response> {
  const text = JSON.stringify(payload);
  const words = isForm ? new URLSearchParams({ payload: text }).toString() : text;
  const body = new TextEncoder().encode(words);
  const timestamp = String(Math.floor(atMs / 1_000));
  const signature = new SlackSignature(secret).sign(timestamp, body);
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": isForm ? "application/x-www-form-urlencoded" : "application/json",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": cut ? signature.slice(0, -1) : signature,
      ...headers,
    },
    body,
  });
  return new Response(await response.text(), response);
}
