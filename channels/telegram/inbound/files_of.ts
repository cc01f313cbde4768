/**
 * The files of a message, as Telegram names them.
 *
 * @module
 */

import type { Message } from "grammy/types";
import type { Provenance } from "../../../lib/channel/mod.ts";
import type { FileRef } from "./heard.ts";

/** Characters of a name, and of what Telegram calls a file. */
const MAX_NAME_CHARS = 300;
const MAX_ID_CHARS = 1_000;

/** Of a picture, the largest size. `provenance`: of a message that is not the sender's. */
export function filesOf(message: Message, provenance?: Provenance): FileRef[] {
  const { message_id: id, photo, document, video, animation, audio, voice, video_note } = message;
  const ref = (
    kind: FileRef["kind"],
    { file_id, file_size }: { file_id: string; file_size?: number },
    name: string,
  ): FileRef => ({
    fileId: file_id.slice(0, MAX_ID_CHARS),
    kind,
    name: name.slice(0, MAX_NAME_CHARS).toWellFormed(),
    ...file_size !== undefined && { bytes: file_size },
    ...provenance !== undefined && { provenance },
  });
  const largest = photo?.at(-1);
  if (largest !== undefined) return [ref("photo", largest, `photo-${id}.jpg`)];
  if (voice !== undefined) return [ref("voice", voice, `voice-${id}.ogg`)];
  if (audio !== undefined) return [ref("audio", audio, audio.file_name ?? `audio-${id}.mp3`)];
  if (video !== undefined) return [ref("file", video, video.file_name ?? `video-${id}.mp4`)];
  if (video_note !== undefined) return [ref("file", video_note, `video-${id}.mp4`)];
  // An animation is named as a document too.
  if (animation !== undefined) {
    return [ref("file", animation, animation.file_name ?? `animation-${id}.mp4`)];
  }
  if (document !== undefined) {
    return [ref("file", document, document.file_name ?? `file-${id}`)];
  }
  return [];
}
