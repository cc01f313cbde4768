/**
 * Writes zip archives, honest or not: every number of a member can be another than the real one.
 *
 * @module
 */

import { crc32, deflateRawSync } from "node:zlib";

/** A member. What is absent follows from `content`. */
export interface ZipMember {
  name: string;
  content?: Uint8Array | string;
  /** Instead of packing `content`. */
  packed?: Uint8Array;
  method?: number;
  flags?: number;
  crc?: number;
  packedBytes?: number;
  unpackedBytes?: number;
  /** Points to the member before instead of to one of its own. */
  overlaps?: boolean;
  /** Sizes and offset stand in the zip64 field. */
  zip64?: boolean;
}

/** The archive. `count`: how many members the directory says that there are. */
export function writeZip(
  members: readonly ZipMember[],
  { count = members.length, zip64 = false }: { count?: number; zip64?: boolean } = {},
): Uint8Array<ArrayBuffer> {
  const chunks: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let at = 0;
  let headerAt = 0;
  const write = (bytes: Uint8Array) => {
    chunks.push(bytes);
    at += bytes.length;
  };
  for (const member of members) {
    const content = toBytes(member.content ?? "");
    const method = member.method ?? 8;
    const packed = member.packed ?? (method === 8 ? deflateRawSync(content) : content);
    const name = toBytes(member.name);
    const shared = [
      number(2, member.flags ?? 0),
      number(2, method),
      number(4, 0),
      number(4, member.crc ?? crc32(content)),
    ];
    const packedBytes = member.packedBytes ?? packed.length;
    const unpackedBytes = member.unpackedBytes ?? content.length;
    if (!member.overlaps) {
      headerAt = at;
      write(join(
        [number(4, 0x04034b50), number(2, 20), ...shared],
        [number(4, packedBytes), number(4, unpackedBytes), number(2, name.length), number(2, 0)],
        [name, packed],
      ));
    }
    const extra = member.zip64
      ? join(
        [number(2, 1), number(2, 24)],
        [unpackedBytes, packedBytes, headerAt].map((value) => number(8, value)),
      )
      : new Uint8Array();
    const small = (value: number) => number(4, member.zip64 ? 0xffffffff : value);
    directory.push(join(
      [number(4, 0x02014b50), number(2, 20), number(2, 20), ...shared],
      [small(packedBytes), small(unpackedBytes), number(2, name.length), number(2, extra.length)],
      [number(2, 0), number(2, 0), number(2, 0), number(4, 0), small(headerAt), name, extra],
    ));
  }
  const start = at;
  for (const entry of directory) write(entry);
  const size = at - start;
  if (zip64) {
    const endAt = at;
    write(join(
      [number(4, 0x06064b50), number(8, 44), number(2, 45), number(2, 45), number(8, 0)],
      [number(8, count), number(8, count), number(8, size), number(8, start)],
      [number(4, 0x07064b50), number(4, 0), number(8, endAt), number(4, 1)],
    ));
  }
  const shownCount = zip64 ? 0xffff : Math.min(count, 0xffff);
  write(join(
    [number(4, 0x06054b50), number(4, 0), number(2, shownCount), number(2, shownCount)],
    [number(4, size), number(4, zip64 ? 0xffffffff : start), number(2, 0)],
  ));
  return join(chunks);
}

function toBytes(content: Uint8Array | string): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content;
}

function number(bytes: 2 | 4 | 8, value: number): Uint8Array {
  const out = new Uint8Array(bytes);
  for (let n = 0, left = value; n < bytes; n++, left = Math.floor(left / 256)) out[n] = left % 256;
  return out;
}

function join(...parts: Uint8Array[][]): Uint8Array<ArrayBuffer> {
  const all = parts.flat();
  const out = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of all) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
