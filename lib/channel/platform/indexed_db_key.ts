/**
 * Keys of IndexedDB as bytes that sort as they do (Indexed Database API 3.0, "Compare two keys"): numbers,
 * then texts by their UTF-16, then lists.
 *
 * @module
 */

export type Key = number | string | readonly Key[];

const NUMBER = 1;
const TEXT = 2;
const LIST = 3;
const END = 0;

/** Throws a DataError for what is no key. */
export function keyBytes(key: unknown): Uint8Array {
  const bytes: number[] = [];
  write(key, bytes);
  return Uint8Array.from(bytes);
}

function write(key: unknown, bytes: number[]): void {
  if (typeof key === "number" && !Number.isNaN(key)) {
    const view = new DataView(new ArrayBuffer(8));
    // One zero.
    view.setFloat64(0, key === 0 ? 0 : key);
    const bits = view.getBigUint64(0);
    // Of a negative number all bits turn round, of any other the first.
    const isNegative = bits >> 63n === 1n;
    view.setBigUint64(0, isNegative ? bits ^ 0xffffffffffffffffn : bits ^ (1n << 63n));
    return void bytes.push(NUMBER, ...new Uint8Array(view.buffer));
  }
  if (typeof key === "string") {
    bytes.push(TEXT);
    for (let at = 0; at < key.length; at += 1) {
      const unit = key.charCodeAt(at);
      bytes.push(unit >> 8, unit & 0xff);
      if (unit === 0) bytes.push(0, 1);
    }
    return void bytes.push(0, 0, 0, 0);
  }
  if (!Array.isArray(key)) throw new DOMException("It is no valid key", "DataError");
  bytes.push(LIST);
  for (const part of key) write(part, bytes);
  bytes.push(END);
}

/** The key that the bytes are of. */
export function keyOf(bytes: Uint8Array): Key {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  return read();

  function read(): Key {
    switch (bytes[at++]) {
      case NUMBER: {
        const bits = view.getBigUint64(at);
        const isNegative = bits >> 63n === 0n;
        const plain = new DataView(new ArrayBuffer(8));
        plain.setBigUint64(0, isNegative ? bits ^ 0xffffffffffffffffn : bits ^ (1n << 63n));
        at += 8;
        return plain.getFloat64(0);
      }
      case TEXT: {
        let text = "";
        for (;; at += 2) {
          const unit = view.getUint16(at);
          if (unit === 0 && view.getUint16(at += 2) === 0) break;
          text += String.fromCharCode(unit);
        }
        at += 2;
        return text;
      }
      default: {
        const list: Key[] = [];
        while (bytes[at] !== END) list.push(read());
        at += 1;
        return list;
      }
    }
  }
}
