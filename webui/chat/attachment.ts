/**
 * A file that a person is about to send.
 *
 * @module
 */

import type { Bootstrap } from "../api/operations.ts";
import { formatBytes, t } from "../locale.ts";

/** A file with what is made of it while the person still types. */
export interface Attachment {
  file: File;
  /** Shows an image; undefined for any other file. */
  url?: string;
  dataUrl: Promise<string>;
}

/** Reads it at once. */
export function attachmentOf(file: File): Attachment {
  const dataUrl = dataUrlOf(file);
  dataUrl.catch(() => {});
  return {
    file,
    dataUrl,
    ...file.type.startsWith("image/") && { url: URL.createObjectURL(file) },
  };
}

/** A file as the service takes it. */
export function dataUrlOf(file: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result as string);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** Those of new files that fit beside what is there, and why others don't. */
export function fitting(
  files: readonly File[],
  present: readonly Attachment[],
  { max_count, max_file_bytes, max_total_bytes }: Bootstrap["limits"]["attachments"],
): { taken: File[]; problem?: string } {
  const taken: File[] = [];
  let total = present.reduce((sum, { file }) => sum + file.size, 0);
  for (const file of files) {
    if (present.length + taken.length >= max_count) {
      return { taken, problem: t.composer.tooMany(max_count) };
    }
    if (file.size > max_file_bytes) {
      return { taken, problem: t.composer.tooBig(file.name, formatBytes(max_file_bytes)) };
    }
    total += file.size;
    if (total > max_total_bytes) {
      return { taken, problem: t.composer.tooBigTogether(formatBytes(max_total_bytes)) };
    }
    taken.push(file);
  }
  return { taken };
}
