/**
 * Archives that `service backup` wouldn't write, for tests.
 *
 * @module
 */

import { createHash } from "node:crypto";
import {
  BACKUP_FORMAT,
  HEAD_ENTRY,
  headText,
  MANIFEST_ENTRY,
  type ManifestFile,
  ManifestText,
} from "../manifest.ts";
import { tarEnd, tarHeader, tarPadding } from "../tar.ts";

/** An entry as it is packed. */
export interface PackedEntry {
  path: string;
  content?: string;
  isFolder?: boolean;
  /** What the header says instead of the content's size. */
  size?: number;
  /** Bytes instead of the entry's own header. */
  header?: Uint8Array;
}

/** What is odd about an archive. */
export interface PackedArchive {
  entries?: PackedEntry[];
  /** In place of those of the entries. */
  manifestFiles?: ManifestFile[];
  /** Changes of the first entry, or of the last one too. */
  head?: object;
  both?: object;
  /** Stands in the last entry behind its own text. */
  behindManifest?: string;
  /** Leave it out. */
  without?: typeof HEAD_ENTRY | typeof MANIFEST_ENTRY;
  /** Entries behind the manifest. */
  after?: PackedEntry[];
}

/** The archive's bytes. */
export async function packArchive(archive: PackedArchive): Promise<Uint8Array<ArrayBuffer>> {
  const { entries = [], after = [], without } = archive;
  const head = {
    product: "service" as const,
    format: BACKUP_FORMAT as 1,
    version: "0.1.0",
    createdAt: "2026-01-02T03:04:05.000Z",
    secretsKeyOutside: false,
    ...archive.both,
  };
  const files = archive.manifestFiles ?? entries.map(({ path, content = "", isFolder }) => ({
    path: isFolder ? `${path}/` : path,
    size: new TextEncoder().encode(content).length,
    sha256: createHash("sha256").update(content).digest("hex"),
  }));
  const text = new ManifestText();
  const manifest = [text.begin(head), ...files.map((file) => text.file(file)), text.end()];
  const whole = [
    { path: HEAD_ENTRY, content: headText({ ...head, ...archive.head }) },
    ...entries,
    { path: MANIFEST_ENTRY, content: manifest.join("") + (archive.behindManifest ?? "") },
    ...after,
  ];
  const parts = whole.filter(({ path }) => path !== without).flatMap(packEntry);
  return await gzip(new Blob([...parts, tarEnd()]));
}

/** Compresses bytes. */
export async function gzip(bytes: Blob): Promise<Uint8Array<ArrayBuffer>> {
  const stream = bytes.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function packEntry({ path, content = "", isFolder = false, size, header }: PackedEntry) {
  const bytes = new TextEncoder().encode(content);
  const facts = { path, size: size ?? bytes.length, mode: 0o600, mtime: 0, isFolder };
  return [header as typeof bytes ?? tarHeader(facts), bytes, tarPadding(bytes.length)];
}
