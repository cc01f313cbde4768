/**
 * What an archive says of itself: its first entry names the format, its last one every file.
 *
 * @module
 */

import { z } from "zod";
import { ServiceError } from "../base/errors.ts";

/** Version of the archive's format. Rises when an older program would misread a newer archive. */
export const BACKUP_FORMAT = 1;

/** The first entry. */
export const HEAD_ENTRY = "backup.json";

/** The last entry. */
export const MANIFEST_ENTRY = "manifest.json";

/** Folders of an archive: the home, and the workspace where it was asked for. */
export const HOME_ENTRY = "home";
export const WORKSPACE_ENTRY = "workspace";

const headSchema = z.strictObject({
  product: z.literal("service"),
  format: z.literal(BACKUP_FORMAT),
  /** Version of the program that wrote it. */
  version: z.string(),
  /** ISO 8601. */
  createdAt: z.iso.datetime(),
  /** Whether the secrets' key is in SERVICE_SECRETS_KEY and so not in the archive. */
  secretsKeyOutside: z.boolean(),
});

/** What stands in the first entry. */
export type BackupHead = z.infer<typeof headSchema>;

/** A file of an archive, in the order of the archive; the path of a folder ends with a slash. */
export interface ManifestFile {
  path: string;
  size: number;
  /** Hex. */
  sha256: string;
}

/** The text of the first entry. */
export function headText(head: BackupHead): string {
  return JSON.stringify(head, null, 1) + "\n";
}

/**
 * The text of the last entry, piece by piece: it names every file, and there may be millions. Its reader makes
 * the same text of the files that it finds, and compares.
 */
export class ManifestText {
  #isEmpty = true;

  begin(head: BackupHead): string {
    return headText(head).replace(/\n}\n$/, ',\n "files": [');
  }

  file({ path, size, sha256 }: ManifestFile): string {
    const text = JSON.stringify({ path, size, sha256 }, null, 1).replaceAll("\n", "\n  ");
    const comma = this.#isEmpty ? "" : ",";
    this.#isEmpty = false;
    return `${comma}\n  ${text}`;
  }

  end(): string {
    return this.#isEmpty ? "]\n}\n" : "\n ]\n}\n";
  }
}

/** Reads the first entry; throws `invalid_request` for another format, naming both. */
export function parseHead(text: string): BackupHead {
  const value = parseJson(text, HEAD_ENTRY);
  const { format, version } = value as { format?: unknown; version?: unknown };
  if (typeof format === "number" && format > BACKUP_FORMAT) {
    throw badBackup(
      `its format is ${format}, written by version ${version} of service, and this program knows ` +
        `formats up to ${BACKUP_FORMAT}. Update service first`,
    );
  }
  const { data } = headSchema.safeParse(value);
  if (data === undefined) throw badBackup(`"${HEAD_ENTRY}" isn't valid`);
  return data;
}

/** The error for an archive that can't be used. */
export function badBackup(reason: string, options?: ErrorOptions): ServiceError {
  return new ServiceError("invalid_request", `Cannot use the backup: ${reason}`, {}, options);
}

function parseJson(text: string, name: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // The same as JSON of another shape.
  }
  throw badBackup(`"${name}" isn't valid`);
}
