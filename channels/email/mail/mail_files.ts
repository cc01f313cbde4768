/**
 * Files of mails in the channel's own folder, `media/<mail>/<file>`.
 *
 * @module
 */

import { join } from "@std/path";
import { MAX_INBOUND_FILES } from "../../../lib/channel/check_inbound.ts";
import type { MailFile } from "./read_mail.ts";

/** Files that were kept, and how many were too many or empty. */
export interface SavedFiles {
  paths: string[];
  leftOut: number;
}

/** How long files are kept, milliseconds: a mail may be given again for as long. */
const KEPT_MS = 8 * 24 * 60 * 60 * 1_000;

const MAX_NAME_CHARS = 80;

/** Writes the files of a mail; the same mail again writes the same files. `key`: hex digits of the mail. */
export async function saveFiles(
  files: readonly MailFile[],
  { stateDir, key }: { stateDir: string; key: string },
): Promise<SavedFiles> {
  const useful = files.filter(({ content }) => content.length > 0);
  const kept = useful.slice(0, MAX_INBOUND_FILES);
  const dir = join(stateDir, "media", key);
  if (kept.length > 0) await Deno.mkdir(dir, { recursive: true, mode: 0o700 });
  const paths: string[] = [];
  for (const [index, file] of kept.entries()) {
    const path = join(dir, `${index + 1}-${safeName(file)}`);
    await Deno.writeFile(path, file.content, { mode: 0o600 });
    paths.push(path);
  }
  return { paths, leftOut: useful.length - kept.length };
}

/** A name without anything that leads elsewhere or hides what kind of file it is. */
export function safeName({ name, mimeType }: Pick<MailFile, "name" | "mimeType">): string {
  const last = name.normalize("NFC").split(/[/\\]/).at(-1)!;
  const plain = last.replace(/[^\p{L}\p{N}._ -]/gu, "_").replace(/\s+/g, " ").replace(
    /^[. ]+|[. ]+$/g,
    "",
  );
  if (plain === "") return `file${EXTENSIONS[mimeType] ?? ".bin"}`;
  if (plain.length <= MAX_NAME_CHARS) return plain;
  const ending = /\.[A-Za-z0-9]{1,10}$/.exec(plain)?.[0] ?? "";
  return `${[...plain].slice(0, MAX_NAME_CHARS - ending.length).join("")}${ending}`;
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/pdf": ".pdf",
  "image/gif": ".gif",
  "image/jpeg": ".jpg",
  "image/png": ".png",
  "image/webp": ".webp",
  "message/rfc822": ".eml",
  "text/calendar": ".ics",
  "text/csv": ".csv",
  "text/html": ".html",
  "text/plain": ".txt",
};

/** Deletes the files of mails that nobody gives again. */
export async function deleteOldFiles(stateDir: string, now: number): Promise<void> {
  const media = join(stateDir, "media");
  try {
    for await (const { name } of Deno.readDir(media)) {
      const path = join(media, name);
      const { mtime } = await Deno.lstat(path);
      if (mtime !== null && mtime.getTime() < now - KEPT_MS) {
        await Deno.remove(path, { recursive: true });
      }
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
