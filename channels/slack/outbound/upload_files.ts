/**
 * Files on their way to Slack: each is given to an address that Slack names, then all are shown at once
 * (https://docs.slack.dev/messaging/working-with-files#uploading_files).
 *
 * @module
 */

import { basename } from "@std/path";
import type { Clock } from "../../../lib/base/clock.ts";
import {
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../../lib/channel/delivery_error.ts";
import { neverSent } from "../../../lib/channel/platform/mod.ts";
import { boundedFetch } from "../api/bounded_fetch.ts";
import { type SlackApi, textOf } from "../api/slack_api.ts";
import type { SlackPlace } from "../events/chat_id.ts";
import { isSlackUrl } from "../inbound/slack_hosts.ts";
import type { Words } from "../words.ts";

/** A file is held in memory as a whole. */
const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;

/**
 * How long the files of a message may take, milliseconds: after two minutes the service takes a call for
 * lost, and nobody would be told.
 */
const UPLOAD_MS = 80_000;

/** What it works with. */
export interface UploadDeps {
  api: Pick<SlackApi, "call">;
  apiUrl: URL;
  clock: Clock;
  signal: AbortSignal;
  words: Words;
}

/** What of files can be sent. */
export interface Sendable {
  paths: string[];
  /** Words about those that are too large, empty or gone. */
  leftOut: string[];
}

/** Looks at files. What cannot be sent keeps nothing from being sent. */
export async function sendable(paths: readonly string[], words: Words): Promise<Sendable> {
  const found: Sendable = { paths: [], leftOut: [] };
  for (const path of paths) {
    const sizeBytes = await Deno.stat(path).then(({ size }) => size, () => 0);
    // Slack takes no file without a byte.
    if (sizeBytes === 0) found.leftOut.push(words("fileMissing", { name: basename(path) }));
    else if (sizeBytes <= MAX_UPLOAD_BYTES) found.paths.push(path);
    else {
      const size = (bytes: number) => `${Math.ceil(bytes / 1024 / 1024)} MB`;
      found.leftOut.push(words("fileTooLargeToSend", {
        name: basename(path),
        size: size(sizeBytes),
        max: size(MAX_UPLOAD_BYTES),
      }));
    }
  }
  return found;
}

/** Shows files in a place. Rejects as `SlackApi.call` does; nothing is shown then, or all is unsure. */
export async function uploadFiles(
  { channel, threadTs }: SlackPlace,
  paths: readonly string[],
  deps: UploadDeps,
): Promise<void> {
  const files: { id: string; title: string }[] = [];
  const endMs = deps.clock.elapsed() + UPLOAD_MS;
  for (const path of paths) {
    files.push({ id: await upload(path, endMs, deps), title: basename(path) });
  }
  // Slack fails at blocks of Markdown here, so the text is a message of its own.
  await deps.api.call("files.completeUploadExternal", {
    files,
    channel_id: channel,
    ...threadTs !== undefined && { thread_ts: threadTs },
  }, "once");
}

/** Resolves with Slack's id of a file that nobody sees yet. */
async function upload(
  path: string,
  endMs: number,
  { api, apiUrl, clock, signal }: UploadDeps,
): Promise<string> {
  const bytes = await Deno.readFile(path);
  const answer = await api.call("files.getUploadURLExternal", {
    filename: basename(path),
    length: bytes.length,
  });
  const url = textOf(answer, "upload_url");
  const id = textOf(answer, "file_id");
  if (id === "" || !isSlackUrl(url, apiUrl)) {
    throw new PermanentDeliveryError("Slack names no address of its own for a file");
  }
  const timeoutMs = Math.max(0, endMs - clock.elapsed());
  let response: Response;
  try {
    // The address is the permission: no token goes there.
    response = await boundedFetch({ signal, timeoutMs, clock })(url, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body: bytes,
    });
  } catch (error) {
    // What fetch says names the address.
    signal.throwIfAborted();
    if (neverSent(error)) throw new NotConnectedError("Slack takes no files now");
    if (clock.elapsed() < endMs) {
      throw new Error(`${basename(path)} was cut off on its way to Slack`);
    }
    throw new PermanentDeliveryError(
      `it was not at Slack within ${UPLOAD_MS / 1_000} s, with the files before it`,
    );
  }
  const { status, headers } = response;
  if (status === 429) {
    const seconds = Number(headers.get("retry-after")) || 30;
    throw new RetryLaterError("Slack takes files again later", seconds * 1_000);
  }
  if (status !== 200) throw new Error(`Slack has not taken ${basename(path)}: HTTP ${status}`);
  return id;
}
