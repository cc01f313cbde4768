/**
 * What Slack posts in the mode http: events, and clicks
 * (https://docs.slack.dev/apis/events-api/using-http-request-urls).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { readBounded } from "../../../lib/channel/platform/mod.ts";
import type { Log } from "../../../lib/base/log.ts";
import { textOf } from "../api/slack_api.ts";
import { HTTP_PATH } from "../app_manifest.ts";
import type { Envelope } from "../socket/socket_connection.ts";
import { SlackSignature } from "./slack_signature.ts";

/** What it works with. */
export interface EventsEndpointDeps {
  signature: SlackSignature;
  clock: Clock;
  log: Pick<Log, "warning">;
  /** Resolves when what is told is on the disk. */
  onEnvelope: (envelope: Envelope) => Promise<void>;
  /** Slack could not reach us for a while: what it gave up to tell is not told any more. */
  onMissed: () => void;
}

/** Bytes of what Slack posts: a message of 40,000 characters, in all the forms that it is given in. */
const MAX_BODY_BYTES = 1024 * 1024;

/** Slack waits 3 seconds for an answer; one that takes longer than this is asked for again. */
const ANSWER_MS = 2_500;

/** Answers a request. Never rejects for what is in it. */
export async function answerSlack(
  request: Request,
  { signature, clock, log, onEnvelope, onMissed }: EventsEndpointDeps,
): Promise<Response> {
  if (new URL(request.url).pathname !== HTTP_PATH) return text(404, "There is nothing here");
  if (request.method !== "POST") return text(405, "Slack posts here", { allow: "POST" });
  const signed = {
    signature: request.headers.get("x-slack-signature"),
    timestamp: request.headers.get("x-slack-request-timestamp"),
  };
  const refused = (reason: string) => {
    log.warning("A request was not from Slack", { reason });
    return text(401, "The signature is wrong");
  };
  // Whoever cannot have signed fills no memory.
  const ahead = SlackSignature.problemAhead(signed, clock.now());
  if (ahead !== undefined) {
    await request.body?.cancel();
    return refused(ahead);
  }
  const body = await readBounded(request, MAX_BODY_BYTES);
  if (body === undefined) return text(413, "The body is too large");
  const problem = signature.problemOf({ ...signed, body }, clock.now());
  if (problem !== undefined) return refused(problem);
  const payload = readPayload(body, request.headers.get("content-type") ?? "");
  if (payload === undefined) return text(400, "The body is no JSON object");
  const type = textOf(payload, "type");
  if (type === "url_verification") {
    return Response.json({ challenge: textOf(payload, "challenge").slice(0, 1_000) });
  }
  // Where it was our own answer that came late, it was taken.
  const retry = request.headers.get("x-slack-retry-reason");
  if (retry !== null && retry !== "http_timeout") onMissed();
  const isEvent = type === "event_callback" || type === "app_rate_limited";
  const told = onEnvelope({ type: isEvent ? "events_api" : "interactive", payload });
  return await inTime(told, clock) ? new Response(null) : text(503, "Come again");
}

/** An event as JSON, or what is in `payload` of a form. */
function readPayload(body: Uint8Array, contentType: string): object | undefined {
  const words = new TextDecoder().decode(body);
  const isForm = contentType.startsWith("application/x-www-form-urlencoded");
  try {
    const value: unknown = JSON.parse(
      isForm ? new URLSearchParams(words).get("payload") ?? "" : words,
    );
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it was done in the time that there is. */
async function inTime(told: Promise<void>, clock: Clock): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const cancel = clock.after(ANSWER_MS, () => late.resolve(false));
  try {
    return await Promise.race([told.then(() => true, () => false), late.promise]);
  } finally {
    cancel();
  }
}

function text(status: number, words: string, headers: Record<string, string> = {}): Response {
  return new Response(words, { status, headers });
}
