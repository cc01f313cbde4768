/**
 * A chat whose turn comes to wait for a person: its stream, and the approval that it tells of.
 *
 * @module
 */

import { TextLineStream } from "@std/streams/text-line-stream";
import type { Running } from "./home.ts";

/** An approval as the stream tells of it. */
export interface ToldApproval {
  id: string;
  digest: string;
  capability: string;
  target: string;
}

/** A stream that is being read. */
export interface WaitingStream {
  /** Resolves when the turn waits for the next person. Rejects when the stream ends before. */
  nextApproval(): Promise<ToldApproval>;
  /** Reads to the end; the text that was answered. */
  end(): Promise<string>;
  /** The requester leaves. */
  leave(): void;
}

/** Opens a turn over the chat route, progress included. */
export async function openStream(
  service: Running,
  { key, session, content = "go on", idempotencyKey }: {
    key?: string;
    session: string;
    content?: string;
    idempotencyKey?: string;
  },
): Promise<WaitingStream> {
  const controller = new AbortController();
  const response = await fetch(`${service.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
    },
    body: JSON.stringify({
      messages: [{ role: "user", content }],
      session_id: session,
      stream: true,
      stream_options: { include_progress: true },
    }),
    signal: controller.signal,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const lines = response.body!.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream()).getReader();
  let text = "";

  /** The next event, or undefined at the end. */
  async function next(): Promise<Record<string, unknown> | undefined> {
    while (true) {
      const { value, done } = await lines.read();
      if (done) return undefined;
      if (!value.startsWith("data: {")) continue;
      const event = JSON.parse(value.slice("data: ".length));
      text += event.choices?.[0]?.delta?.content ?? "";
      return event;
    }
  }

  return {
    async nextApproval() {
      for (let event; (event = await next()) !== undefined;) {
        const told = event.service as { type: string } & ToldApproval | undefined;
        if (told?.type === "approval_requested") return told;
      }
      throw new Error(`the stream ended without asking: ${text}`);
    },
    async end() {
      while (await next() !== undefined);
      return text;
    },
    leave() {
      controller.abort();
      // Where nothing is being read, an abort alone does not always close the connection.
      lines.cancel().catch(() => {});
    },
  };
}
