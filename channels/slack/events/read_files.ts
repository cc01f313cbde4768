/**
 * The files of a message, as far as they are needed to fetch them
 * (https://docs.slack.dev/reference/objects/file-object).
 *
 * @module
 */

import { textOf } from "../api/slack_api.ts";

/** A file of a message. Plain JSON. */
export interface FileNote {
  id: string;
  name: string;
  mimetype: string;
  /** As Slack says; it is counted again. */
  sizeBytes: number;
  /** Where it lies; empty where Slack wants to be asked for it. */
  url: string;
  isAudio: boolean;
  /** Spoken into Slack by whoever sends it. */
  isClip?: boolean;
  /** It lies elsewhere, or was deleted: there is nothing to fetch. */
  isAway: boolean;
}

/** Files of one message that are looked at. */
const MAX_FILES = 20;

const AWAY_MODES: ReadonlySet<string> = new Set(["external", "tombstone", "hidden_by_limit"]);

/** The files of an event or of a message of the history; `senderId`: whose it is. */
export function readFiles(event: unknown, senderId?: string): FileNote[] {
  const files = (event as { files?: unknown }).files;
  if (!Array.isArray(files)) return [];
  return files.slice(0, MAX_FILES).flatMap((file: unknown) => {
    const note = readFile(file);
    if (note === undefined) return [];
    const isClip = textOf(file, "subtype") === "slack_audio" && textOf(file, "user") === senderId;
    return [{ ...note, ...isClip && { isClip } }];
  });
}

/** One file object; undefined where it is none. */
export function readFile(file: unknown): FileNote | undefined {
  const id = textOf(file, "id");
  if (!/^F[A-Z0-9]{1,30}$/.test(id)) return undefined;
  const { size, is_external: isExternal } = file as { size?: unknown; is_external?: unknown };
  const mimetype = textOf(file, "mimetype").slice(0, 100);
  return {
    id,
    name: (textOf(file, "name") || textOf(file, "title") || id).slice(0, 200).toWellFormed(),
    mimetype,
    sizeBytes: typeof size === "number" && size >= 0 ? size : 0,
    url: textOf(file, "url_private_download") || textOf(file, "url_private"),
    isAudio: mimetype.startsWith("audio/") || textOf(file, "subtype") === "slack_audio",
    isAway: isExternal === true || AWAY_MODES.has(textOf(file, "mode")),
  };
}
