/**
 * Files of a message on their way out: uploaded first, then named by the post. What cannot be attached is
 * said in words.
 *
 * @module
 */

import { basename } from "@std/path";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { ApiError, toDeliveryError } from "../api/api_error.ts";
import type { MattermostClient } from "../api/mattermost_client.ts";
import { isId } from "../inbound/post.ts";
import type { Words } from "../words.ts";

/** What files are uploaded with. */
export interface UploadFilesDeps {
  client: Pick<MattermostClient, "uploadFile">;
  /** Bytes of one, as the server is set. */
  maxFileBytes: number;
  words: Words;
}

/** What became of them. */
export interface UploadedFiles {
  ids: string[];
  /** For the text of the message. */
  notes: string[];
}

/** Uploads them to a channel. Rejects as `send` does where a repeat may mend it. */
export async function uploadFiles(
  paths: readonly string[],
  channelId: string,
  { client, maxFileBytes, words }: UploadFilesDeps,
): Promise<UploadedFiles> {
  const uploaded: UploadedFiles = { ids: [], notes: [] };
  for (const path of paths) {
    const name = basename(path);
    const leaveOut = (reason: string) =>
      void uploaded.notes.push(words("notSent", { name, reason }));
    let bytes: Uint8Array<ArrayBuffer>;
    try {
      const { size } = await Deno.stat(path);
      if (size > maxFileBytes) {
        const megabytes = (count: number) => `${Math.ceil(count / 1024 / 1024)} MB`;
        leaveOut(`${megabytes(size)} > ${megabytes(maxFileBytes)}`);
        continue;
      }
      bytes = await Deno.readFile(path);
    } catch (error) {
      leaveOut(error instanceof Error ? error.name : String(error));
      continue;
    }
    const form = new FormData();
    form.set("channel_id", channelId);
    form.append("files", new Blob([bytes]), name);
    try {
      uploaded.ids.push(idOf(await client.uploadFile(form)));
    } catch (error) {
      // An upload alone is seen by nobody.
      const failure = toDeliveryError(error, true);
      if (!(failure instanceof PermanentDeliveryError)) throw failure;
      leaveOut(failure.message);
    }
  }
  return uploaded;
}

/** Throws for an answer that names no file: the post would stand there without it. */
function idOf(answer: unknown): string {
  const [info] = (answer as { file_infos?: { id?: unknown }[] } | null)?.file_infos ?? [];
  if (isId(info?.id)) return info.id;
  throw new ApiError("The server's answer to an upload names no file", { status: 0, isSent: true });
}
