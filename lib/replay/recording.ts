/**
 * A recorded turn as one JSON value, which is also the format of a fixture.
 *
 * @module
 */

import { z } from "zod";
import type { ApprovalBrief, ApprovalView, Remedy } from "../contract/actions.ts";
import { ERROR_CODES, type ErrorData, ServiceError } from "../base/errors.ts";
import type { AgentEvent } from "../contract/events.ts";
import type { Message, OutFile, UserPart } from "../contract/messages.ts";

/** Raised when a program that reads the one before can't replay it. */
export const RECORDING_VERSION = 1;

/** Characters of a recording; it is in memory a few times while it runs. */
export const MAX_RECORDING_CHARS = 32 * 1024 * 1024;

/** An object that is passed on as it is. */
const object = <T>() =>
  z.custom<T>((value) => typeof value === "object" && value !== null, "expected an object");

const tokens = z.int().min(0);
const usage = z.object({
  inputTokens: tokens,
  outputTokens: tokens,
  reasoningTokens: tokens,
  cachedTokens: tokens,
});
const error = z.looseObject({ code: z.enum(ERROR_CODES), message: z.string() }) as z.ZodType<
  ErrorData
>;

const said = z.discriminatedUnion("type", [
  z.object({ type: z.literal(["text", "reasoning", "notice"]), text: z.string() }),
  z.object({
    type: z.literal("call"),
    call: z.object({ callId: z.string(), tool: z.string(), args: z.unknown(), hint: z.string() }),
  }),
  z.object({
    type: z.literal("finish"),
    model: z.string(),
    reason: z.enum(["stop", "length"]),
    usage,
  }),
  z.object({ type: z.literal("error"), error }),
]);

const callId = z.string();
const action = z.discriminatedUnion("type", [
  z.object({ type: z.literal("progress"), callId, text: z.string() }),
  z.object({
    type: z.literal("approval_requested"),
    callId,
    approval: object<ApprovalView>(),
    brief: object<ApprovalBrief>(),
  }),
  z.object({
    type: z.literal("approval_resolved"),
    callId,
    approvalId: z.string(),
    outcome: z.enum(["approved", "denied", "expired", "void"]),
  }),
  z.object({
    type: z.literal("files"),
    files: z.array(object<OutFile>()).readonly(),
    replyTo: z.string().optional(),
  }),
  z.object({
    type: z.literal("result"),
    callId,
    status: z.enum(["ok", "failed", "refused"]),
    output: z.string(),
    remedy: object<Remedy>().optional(),
  }),
  /** The call broke off, by itself or by the end of the turn: nobody knows what it did. */
  z.object({ type: z.literal("broken"), callId }),
]);

const part = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("text"), text: z.string() }),
  z.looseObject({ type: z.literal("image"), mediaType: z.string() }),
  z.looseObject({
    type: z.literal("document"),
    name: z.string(),
    mediaType: z.string(),
    text: z.string(),
  }),
]) as unknown as z.ZodType<UserPart>;

const message = z.discriminatedUnion("role", [
  z.looseObject({ role: z.literal("user"), parts: z.array(part) }),
  z.looseObject({
    role: z.literal("assistant"),
    text: z.string(),
    calls: z.array(z.looseObject({ callId: z.string(), tool: z.string() })),
  }),
  z.looseObject({
    role: z.literal("tool"),
    results: z.array(
      z.looseObject({ callId: z.string(), tool: z.string(), output: z.string() }),
    ),
  }),
  z.looseObject({ role: z.literal("summary"), text: z.string() }),
]) as unknown as z.ZodType<Message>;

const recording = z.object({
  version: z.literal(RECORDING_VERSION),
  /** For whoever opens the file. */
  about: z.string(),
  /** What of the settings the turn depended on. */
  settings: z.object({
    model: z.string(),
    /** Model calls; absent where the turn came to no bound. */
    maxSteps: z.int().min(1).optional(),
    /** Of a run of an automation. */
    tokenBudget: z.int().min(1).optional(),
    /** Tools that it had, as far as the record says. */
    tools: z.array(z.object({ name: z.string(), parallel: z.boolean() })),
  }),
  /** What came before it, as the model was given it. */
  context: z.array(message),
  input: z.array(part).min(1),
  /** What the model said, call by call; one that was cut off has no `finish`. */
  answers: z.array(z.array(said)),
  /** What the gate and the tools did, in its order. */
  actions: z.array(action),
  /** How somebody or something other than its loop ended the turn, once all of the above was done. */
  end: z.object({
    status: z.enum(["failed", "cancelled", "timed_out", "interrupted"]),
    error,
    /** It came when so many calls and results were on record; absent: when nothing was left to be done. */
    afterCalls: z.int().min(1).optional(),
  }).optional(),
  /** What it is compared with. */
  events: z.array(
    z.looseObject({ type: z.string() }) as unknown as z.ZodType<AgentEvent>,
  ).min(1),
});

/** A recorded turn. */
export type TurnRecording = z.infer<typeof recording>;
/** One thing that a model said. */
export type RecordedSaid = z.infer<typeof said>;
/** One thing that the gate or a tool did. */
export type RecordedAction = z.infer<typeof action>;

/** Reads one. Throws `invalid_request` with what is wrong with it. */
export function readRecording(text: string): TurnRecording {
  if (text.length > MAX_RECORDING_CHARS) throw tooLarge();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw invalid("it isn't JSON. Save it again", cause);
  }
  const { version } = (value ?? {}) as { version?: unknown };
  if (typeof version === "number" && version > RECORDING_VERSION) {
    throw invalid(
      `it has version ${version}, and this program reads up to version ${RECORDING_VERSION}. ` +
        "Upgrade with: service upgrade",
    );
  }
  const { data, error } = recording.safeParse(value);
  if (data !== undefined) return data;
  const { path, message } = error!.issues[0]!;
  throw invalid(`${path.length === 0 ? "its value" : path.join(".")}: ${message}`);
}

/** Nothing reads a recording that is larger. */
export function tooLarge(): ServiceError {
  const mib = MAX_RECORDING_CHARS / 1024 / 1024;
  return new ServiceError("too_large", `The recording is larger than ${mib} MiB`);
}

function invalid(what: string, cause?: unknown): ServiceError {
  return new ServiceError("invalid_request", `Invalid recording: ${what}`, {}, { cause });
}
