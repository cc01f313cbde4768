/**
 * Runs an allowed message: its files are read, each in a child, and with it handed to the outbox, from
 * where the channel delivers it.
 *
 * @module
 */

import { basename } from "@std/path";
import { type ErrorData, toErrorData } from "../base/errors.ts";
import type { Scrubber } from "../secrets/scrubber.ts";
import type { AllowedMessage, Enqueued, OutboxPort } from "../contract/ports.ts";
import type { MessageArgs } from "../tools/message.ts";
import type { Tool } from "../contract/tool.ts";
import type { ActionContext, ActionPort, ActionResult, ChatTarget } from "../contract/actions.ts";
import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import { actionJob, type JobSettings } from "../executor/child_job.ts";
import type { Executor } from "../executor/executor.ts";
import type { Allowed } from "./judge.ts";
import { failed } from "./results.ts";

/** Bytes of one file, and of all files of a message. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_FILES_BYTES = 24 * 1024 * 1024;

/** How sending ended: for the turn, and for the record. */
export interface Sent {
  result: ActionResult;
  facts: Record<string, unknown>;
}

/** A message that may be sent. */
export interface SendableMessage {
  args: unknown;
  target: ChatTarget;
  /** Reading of its files, in the order of the target's. */
  files: readonly Allowed[];
  context: ActionContext;
  tool: Pick<Tool, "timeoutMs">;
  options: Parameters<ActionPort["act"]>[1];
}

/** What sending needs. */
export interface SendDeps {
  outbox: OutboxPort;
  executor: Executor;
  settings: JobSettings;
  /** Finds secrets in files. */
  scrubber?: Pick<Scrubber, "text">;
}

/** Hands the message to the outbox. Rejects with the signal's reason alone. */
export async function sendMessage(sendable: SendableMessage, deps: SendDeps): Promise<Sent> {
  const { args, target, context, tool: { timeoutMs }, options: { signal } } = sendable;
  const { channel, chatId, withAnswer } = target;
  const id = messageId(context);
  const { content = "" } = args as MessageArgs;
  let files: NonNullable<AllowedMessage["files"]>;
  try {
    files = await readFiles(sendable, deps);
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    return { result: error.result, facts: { message: id } };
  }
  signal.throwIfAborted();
  const message: AllowedMessage = {
    id,
    turnId: context.turnId,
    channel,
    chatId,
    content,
    ...files.length > 0 && { files },
    ...withAnswer && { withAnswer },
  };
  // Once handed over it cannot be called back: an end of the turn from then on changes nothing.
  try {
    const enqueued = await deps.outbox.enqueue(message, { timeoutMs });
    const { repeated, channelEnabled } = enqueued;
    return {
      result: { status: "ok", output: told(target, enqueued) },
      facts: { message: id, repeated, channelEnabled },
    };
  } catch (error) {
    const { code, message } = toErrorData(error);
    return {
      result: failed(code, `The message is not confirmed as queued: ${message}`),
      facts: { message: id },
    };
  }
}

/** A file that cannot be sent; nothing of the message was. */
class FileError extends Error {
  readonly result: ActionResult;

  constructor(code: ErrorData["code"], message: string) {
    super(message);
    this.result = failed(code, `The message was not sent: ${message}`);
  }
}

async function readFiles(
  { target, files, tool: { timeoutMs }, options }: SendableMessage,
  { executor, settings, scrubber }: SendDeps,
): Promise<NonNullable<AllowedMessage["files"]>> {
  const sent = target.files ?? [];
  const total = sent.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > MAX_FILES_BYTES) {
    throw new FileError(
      "too_large",
      `its files have ${total} bytes, more than ${MAX_FILES_BYTES} together`,
    );
  }
  const read: { name: string; bytes: Uint8Array<ArrayBuffer> }[] = [];
  for (const [at, { real, bytes, stamp }] of sent.entries()) {
    const action = files[at]?.action;
    if (action?.target.kind !== "path" || action.target.real !== real) {
      throw new FileError("tool_failed", "a file changed while it was being decided on; try again");
    }
    const args = { bytes, stamp, maxBytes: MAX_FILE_BYTES };
    const job = actionJob({ ...action, tool: "attach_file", args }, { timeoutMs }, settings);
    const outcome = await executor.run(job, options);
    if (outcome.type !== "file") {
      const isFailure = outcome.type === "failure" || outcome.type === "fault";
      const reason = isFailure ? outcome.message : "reading a file took too long";
      throw new FileError(outcome.type === "failure" ? "tool_failed" : "executor_fault", reason);
    }
    const content = Uint8Array.fromBase64(outcome.data);
    const text = new TextDecoder().decode(content);
    if (scrubber !== undefined && scrubber.text(text) !== text) {
      throw new FileError("refused", `${basename(real)} holds the value of a secret`);
    }
    read.push({ name: basename(real), bytes: content });
  }
  return read;
}

/** The same call is the same message, however often it comes; a hash, since a model chose its id. */
function messageId({ turnId, callId }: ActionContext): string {
  return `msg_${sha256Hex(canonicalJson([turnId, callId]))}`;
}

/**
 * What the agent is told. It repeats the channel's name alone: anything else that the model chose could
 * come back as what a tool said, such as a URL put together from a channel and a chat's id.
 */
function told(
  { channel, withAnswer, files = [] }: ChatTarget,
  { repeated, channelEnabled }: Enqueued,
): string {
  const again = repeated ? "This call had queued the message already; not queued again. " : "";
  if (withAnswer) {
    return `${again}${files.length === 1 ? "The file goes" : "The files go"} out with your answer.`;
  }
  return again +
    (channelEnabled
      ? `In the outbox of the running channel "${channel}", which delivers it.`
      : `Queued, not delivered: the channel "${channel}" is not enabled. The message waits until it ` +
        "is, and expires after 24 h.");
}
