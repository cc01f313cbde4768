/** Up to where an archive was read, as it is kept over restarts. */
export interface ArchiveCursor {
  /** Of the last message; undefined where there was none. */
  id?: string;
  /** When that was, milliseconds since 1970: for an archive that has forgotten the id. */
  at: number;
}

/** As a text. */
export function writeCursor(cursor: ArchiveCursor): string {
  return JSON.stringify(cursor);
}

/** Undefined for what is none. */
export function readCursor(text: string | undefined): ArchiveCursor | undefined {
  if (text === undefined) return undefined;
  try {
    const { id, at } = JSON.parse(text) as { id?: unknown; at?: unknown };
    if (typeof at !== "number" || !Number.isFinite(at)) return undefined;
    return { at, ...typeof id === "string" && id !== "" && { id } };
  } catch {
    return undefined;
  }
}
