/**
 * Makes the self-extracting file of a platform: a shell script, and behind it Deno and the built form as a
 * compressed archive.
 *
 * @module
 */

import { createGzip } from "node:zlib";
import { Readable } from "node:stream";
import { SAY_TYPED_AS } from "../cli/installation/launcher.ts";
import { VERSION } from "../cli/version.ts";
import { tarEnd, tarHeader, tarPadding } from "../lib/backup/tar.ts";
import { builtArgs, SETTLE_MODULE } from "./build.ts";
import { filesIn } from "./files_in.ts";
import type { Target } from "./targets.ts";

/** What a file is made of. */
export interface SelfExtracting {
  target: Target;
  /** Folder of the built form. */
  built: string;
  /** Path of Deno for that platform. */
  deno: string;
  /** Of the compression, 1 to 9. Default 9. */
  level?: number;
}

/** Of every file in the archive, so that the same sources make the same bytes. */
const MTIME = 0;

/** Flags of the first start, which reads and places files, and nothing else. */
const SETTLE_FLAGS =
  "-q --no-prompt --no-config --no-lock --no-npm --no-remote --allow-read --allow-write";

/** Writes the file, which can be run. */
export async function makeSelfExtracting(
  path: string,
  { target, built, deno, level = 9 }: SelfExtracting,
): Promise<void> {
  const { archive, unpackedBytes } = await compress({ built, deno, level });
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", archive)).toHex();
  const script = await scriptOf({ target, hash: digest, archive, unpackedBytes });
  await Deno.writeFile(path, script, { mode: 0o755 });
  await Deno.writeFile(path, archive, { append: true });
  // The process's mask may have taken bits away from the mode.
  await Deno.chmod(path, 0o755);
}

/** The script, which says where the archive begins behind it. */
async function scriptOf(
  { target, hash, archive, unpackedBytes }: {
    target: Target;
    hash: string;
    archive: Uint8Array;
    unpackedBytes: number;
  },
): Promise<Uint8Array> {
  const template = await Deno.readTextFile(new URL("self_extracting.sh", import.meta.url));
  const values: Record<string, string> = {
    VERSION,
    TITLE: target.title,
    UNAME: target.uname,
    HASH: hash,
    NEEDED: String(Math.ceil(unpackedBytes / 1e6)),
    SETTLE_FLAGS,
    SETTLE_MODULE,
    SAY_TYPED_AS: SAY_TYPED_AS.trimEnd(),
    ARGS: builtArgs("$folder/"),
  };
  const text = template.replace(/@([A-Z_]+)@/g, (whole, name) => values[name] ?? whole);
  const bytes = (offset: number) =>
    new TextEncoder().encode(
      text.replace("@OFFSET@", String(offset)).replace(
        "@SIZE@",
        String(offset - 1 + archive.length),
      ),
    );
  // The numbers are part of the script whose length they follow from.
  let offset = 0;
  for (let script = bytes(0); script.length + 1 !== offset; script = bytes(offset)) {
    offset = script.length + 1;
  }
  return bytes(offset);
}

/** Everything as a compressed archive. */
async function compress(
  { built, deno, level }: Required<Omit<SelfExtracting, "target">>,
): Promise<{ archive: Uint8Array<ArrayBuffer>; unpackedBytes: number }> {
  let unpackedBytes = 0;
  async function* entries() {
    const files = (await filesIn(built)).map((file) => ({
      ...file,
      from: `${built}/${file.path}`,
    }));
    for (
      const { path, from, isFolder } of [{ path: "deno", from: deno, isFolder: false }, ...files]
    ) {
      const content = isFolder ? new Uint8Array() : await Deno.readFile(from);
      unpackedBytes += content.length;
      const mode = isFolder || from === deno ? 0o755 : 0o644;
      yield tarHeader({ path, size: content.length, mode, mtime: MTIME, isFolder });
      yield content;
      yield tarPadding(content.length);
    }
    yield tarEnd();
  }
  const gzip = Readable.from(entries()).pipe(createGzip({ level }));
  const archive = new Uint8Array(
    await new Response(Readable.toWeb(gzip) as BodyInit).arrayBuffer(),
  );
  return { archive, unpackedBytes };
}
