/** That the memory of a backup and of a restore doesn't grow with the number of files. */

import { createHash } from "node:crypto";
import { needs } from "../../tests/support/needs.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { assertEquals } from "@std/assert";
import { lockedFlags } from "../packages/locked_packages.ts";
import { BACKUP_FORMAT, HEAD_ENTRY, headText, MANIFEST_ENTRY, ManifestText } from "./manifest.ts";
import { type Bytes, tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** Of them alone a list would be larger than the heap. */
const ENTRIES = 60_000;
const HEAP_MIB = 24;

const HEAD = {
  product: "service",
  format: BACKUP_FORMAT,
  version: "0.1.0",
  createdAt: "2026-01-02T03:04:05.000Z",
  secretsKeyOutside: false,
} as const;

function* archive(): Generator<Bytes> {
  const facts = { mode: 0o600, mtime: 0, isFolder: false };
  function* text(path: string, content: string): Generator<Bytes> {
    const bytes = new TextEncoder().encode(content);
    yield tarHeader({ ...facts, path, size: bytes.length });
    yield bytes;
    yield tarPadding(bytes.length);
  }
  yield* text(HEAD_ENTRY, headText(HEAD));
  const sha256 = createHash("sha256").digest("hex");
  const manifest = new ManifestText();
  const parts = [manifest.begin(HEAD)];
  for (let n = 0; n < ENTRIES; n++) {
    const path = `home/data/media/${"0".repeat(64)}${n}`;
    yield tarHeader({ ...facts, path, size: 0 });
    parts.push(manifest.file({ path, size: 0, sha256 }));
  }
  parts.push(manifest.end());
  yield* text(MANIFEST_ENTRY, parts.join(""));
  yield tarEnd();
}

Deno.test(
  needs(
    "readArchive() of an archive with very many empty files takes no more memory for them",
    FULL_RUN,
  ),
  async () => {
    const path = await Deno.makeTempFile();
    try {
      const file = await Deno.open(path, { write: true });
      await ReadableStream.from(archive()).pipeThrough(new CompressionStream("gzip"))
        .pipeTo(file.writable);
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-q",
          "-A",
          "--cached-only",
          ...lockedFlags(),
          "--no-check",
          `--v8-flags=--max-old-space-size=${HEAP_MIB}`,
          new URL("./testing/read_archive_process.ts", import.meta.url).pathname,
          path,
        ],
      }).output();
      const decoder = new TextDecoder();
      assertEquals([code, decoder.decode(stdout)], [0, `${ENTRIES}\n`], decoder.decode(stderr));
    } finally {
      await Deno.remove(path);
    }
  },
);
