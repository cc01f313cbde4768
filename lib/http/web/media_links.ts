/**
 * Signed links to files of the media folder. A link is a capability for one file
 * and one hour; with this process go its key and so all its links.
 *
 * @module
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import { isAbsolute, relative } from "@std/path";
import type { MediaLinks } from "../../channel/socket_host.ts";

/** How long a link holds. */
export const LINK_MS = 60 * 60 * 1_000;

/** Bytes of the key. */
const KEY_BYTES = 32;

/** Characters of a file's name. */
const MAX_NAME_CHARS = 255;

/** What {@linkcode createMediaLinks} needs. */
export interface MediaLinksDeps {
  /** The media folder; absolute. */
  mediaDir: string;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Whether there is a file itself (no link to one) at a path. Default: asks the file system. */
  isFile?: (path: string) => boolean;
}

/** Makes links and knows its own again. */
export interface SignedMediaLinks extends MediaLinks {
  /** `name`: what the file is to be called where it is saved. */
  sign(path: string, name?: string): string | undefined;
  /** What a link of this process is for; undefined for any other, and for one that has expired. */
  verify(
    sha256: string,
    query: URLSearchParams,
  ): { name?: string; expiresAtMs: number } | undefined;
}

/** Makes the signer, with a key of its own. */
export function createMediaLinks(
  { mediaDir, now, isFile = isPlainFile }: MediaLinksDeps,
): SignedMediaLinks {
  const key = new Uint8Array(KEY_BYTES);
  crypto.getRandomValues(key);

  function mac(sha256: string, expiresS: number, name: string): string {
    return createHmac("sha256", key).update(JSON.stringify([sha256, expiresS, name]))
      .digest("base64url");
  }

  return {
    sign(path, name = "") {
      const sha256 = isAbsolute(path) ? relative(mediaDir, path) : "";
      // The name of a file that lies right there, and of nothing that a path could lead to from there.
      if (!isHash(sha256) || !isFile(path)) return undefined;
      const shown = name.slice(0, MAX_NAME_CHARS).toWellFormed();
      const expiresS = Math.ceil((now() + LINK_MS) / 1_000);
      const sig = mac(sha256, expiresS, shown);
      const query = new URLSearchParams({
        ...shown !== "" && { name: shown },
        exp: String(expiresS),
        sig,
      });
      return `/media/${sha256}?${query}`;
    },
    verify(sha256, query) {
      const exp = query.get("exp") ?? "";
      const sig = query.get("sig") ?? "";
      const name = query.get("name") ?? "";
      if (!isHash(sha256) || !/^[1-9]\d{0,14}$/.test(exp) || !/^[\w-]{43}$/.test(sig)) {
        return undefined;
      }
      // As texts: the last character of one has bits that no byte has, so others would read alike.
      if (!timingSafeEqual(bytes(sig), bytes(mac(sha256, Number(exp), name)))) return undefined;
      const expiresAtMs = Number(exp) * 1_000;
      if (expiresAtMs <= now()) return undefined;
      return { expiresAtMs, ...name !== "" && { name } };
    },
  };
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}

function isPlainFile(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}
