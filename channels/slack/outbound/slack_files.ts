/**
 * Files from and to Slack, and to no other host. Each file that goes out is given to an address that Slack
 * names (https://docs.slack.dev/messaging/working-with-files#uploading_files).
 *
 * @module
 */

import type { Clock } from "../../../lib/base/clock.ts";
import { NotConnectedError, PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import {
  boundedFetch,
  bytesOf,
  type OutgoingFile,
  UnreadableFileError,
} from "../../../lib/channel/platform/mod.ts";
import { type SlackApi, textOf } from "../api/slack_api.ts";
import { refusedAs, slackPause } from "../api/slack_faults.ts";
import { type FileNote, readFile } from "../events/read_files.ts";
import { isSlackUrl } from "../inbound/slack_hosts.ts";

/** How long one file may take to come, milliseconds. */
const FILE_MS = 60_000;

/** A file is held in memory as a whole. */
export const MAX_UPLOAD_BYTES = 64 * 1024 * 1024;

/** A file that was uploaded, and that nobody sees yet. */
export interface SlackFile {
  id: string;
  name: string;
}

/** What files are moved with. */
export interface SlackFilesDeps {
  api: Pick<SlackApi, "call">;
  apiUrl: URL;
  clock: Clock;
}

/** Its bytes; undefined for more than may be. Rejects where it is worth another try. */
export async function fetchFile(
  listed: FileNote,
  { api, apiUrl, botToken, clock }: SlackFilesDeps & { botToken: string },
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const { url, isAway, mimetype, sizeBytes } = await located(listed, api);
  if (isAway || url === "" || !isSlackUrl(url, apiUrl)) {
    throw new UnreadableFileError("it does not lie on Slack");
  }
  if (sizeBytes > maxBytes) return undefined;
  const init = { headers: { authorization: `Bearer ${botToken}` } };
  const asked = boundedFetch(url, init, {
    ...{ peer: "Slack", timeoutMs: FILE_MS, maxBytes, clock, signal },
  });
  return await bytesOf(asked.then((answer) => {
    requireDone(answer, "a file");
    const type = answer.headers.get("content-type") ?? "";
    // To who may not have a file Slack shows a page to sign in.
    if (answer.status === 200 && (!type.startsWith("text/html") || mimetype.includes("html"))) {
      return answer;
    }
    throw new UnreadableFileError(
      "Slack does not give it to the app; it may lack the scope files:read",
    );
  }));
}

/** With its address, which Slack wants to be asked for where a file comes from another workspace. */
async function located(file: FileNote, api: SlackFilesDeps["api"]): Promise<FileNote> {
  if (file.url !== "" || file.isAway) return file;
  try {
    const answer = await api.call("files.info", { file: file.id });
    return readFile(answer.file) ?? file;
  } catch (error) {
    if (refusedAs(error) === "") throw error;
    return file;
  }
}

/** Gives a file to Slack, in the time that is left. */
export async function uploadFile(
  { path, name, bytes: length }: OutgoingFile,
  leftMs: number,
  { api, apiUrl, clock, signal }: SlackFilesDeps & { signal: AbortSignal },
): Promise<SlackFile> {
  const body = await Deno.readFile(path);
  const answer = await api.call("files.getUploadURLExternal", { filename: name, length });
  const url = textOf(answer, "upload_url");
  const id = textOf(answer, "file_id");
  if (id === "" || !isSlackUrl(url, apiUrl)) {
    throw new PermanentDeliveryError("Slack names no address of its own for a file");
  }
  const endMs = clock.elapsed() + leftMs;
  let response: Response;
  try {
    // The address is the permission: no token goes there.
    response = await boundedFetch(url, {
      method: "POST",
      headers: { "content-type": "application/octet-stream" },
      body,
    }, { peer: "Slack", timeoutMs: leftMs, clock, signal });
  } catch (error) {
    if (error instanceof NotConnectedError || clock.elapsed() < endMs) throw error;
    throw new PermanentDeliveryError("it was not at Slack in time, with the files before it");
  }
  requireDone(response, name);
  if (response.status !== 200) {
    throw new Error(`Slack has not taken ${name}: HTTP ${response.status}`);
  }
  return { id, name };
}

/** Throws for an answer that another time may be better. */
function requireDone({ status, headers }: Response, what: string): void {
  if (status === 429) {
    throw slackPause(what, Number(headers.get("retry-after")) * 1_000 || undefined);
  }
  if (status >= 500) throw new Error(`Slack answered with HTTP ${status}`);
}
