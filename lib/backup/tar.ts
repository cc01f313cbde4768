/**
 * The part of tar that a backup uses: files and folders in the ustar format, with pax headers for long
 * names and large sizes (POSIX.1-2024, pax). The reader takes that part only, so an archive can't place
 * a link or a device anywhere.
 *
 * @module
 */

/** A file or a folder of an archive. */
export interface TarHeader {
  /** Relative, with slashes. */
  path: string;
  /** Bytes; 0 for a folder. */
  size: number;
  mode: number;
  /** Seconds since 1970. */
  mtime: number;
  isFolder: boolean;
}

/** An entry that is being read. */
export interface TarEntry extends Omit<TarHeader, "mtime"> {
  /** The content, once. What isn't read is skipped. */
  bytes: AsyncIterable<Uint8Array>;
}

/** Bytes that a stream of Deno takes. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Why an archive can't be read. */
export class TarError extends Error {}

const BLOCK = 512;
const MAX_NAME_BYTES = 100;
const MAX_OCTAL_SIZE = 0o77777777777;
const MAX_PAX_BYTES = 64 * 1024;

/** Where the fields of a header block are: offset and bytes (POSIX.1-2024, ustar). */
const FIELDS = {
  name: [0, 100],
  mode: [100, 8],
  uid: [108, 8],
  gid: [116, 8],
  size: [124, 12],
  mtime: [136, 12],
  checksum: [148, 8],
  type: [156, 1],
  magic: [257, 8],
  prefix: [345, 155],
} as const;

const MAGIC = "ustar\x0000";

/** What people call the types that a backup never has. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  "1": "a hard link",
  "2": "a symbolic link",
  "3": "a device",
  "4": "a device",
  "6": "a pipe",
};

/** The blocks in front of an entry's content. */
export function tarHeader({ path, size, mode, mtime, isFolder }: TarHeader): Bytes {
  const name = isFolder ? `${path}/` : path;
  const pax: string[] = [];
  if (byteLength(name) > MAX_NAME_BYTES) pax.push(paxRecord("path", name));
  if (size > MAX_OCTAL_SIZE) pax.push(paxRecord("size", `${size}`));
  const block = headerBlock({
    name,
    mode,
    size: Math.min(size, MAX_OCTAL_SIZE),
    mtime,
    type: isFolder ? "5" : "0",
  });
  if (pax.length === 0) return block;
  const body = new TextEncoder().encode(pax.join(""));
  const head = headerBlock({ name: "pax", mode: 0o600, size: body.length, mtime, type: "x" });
  return concat([head, body, tarPadding(body.length), block]);
}

/** What fills up the last block of a content. */
export function tarPadding(size: number): Bytes {
  return new Uint8Array((BLOCK - size % BLOCK) % BLOCK);
}

/** The end of an archive. */
export function tarEnd(): Bytes {
  return new Uint8Array(2 * BLOCK);
}

/** The entries of an archive, in order. Throws {@linkcode TarError}. */
export async function* readTar(source: ReadableStream<Uint8Array>): AsyncGenerator<TarEntry> {
  await using bytes = new ByteReader(source);
  while (true) {
    let block = await bytes.exactly(BLOCK);
    if (block.every((byte) => byte === 0)) return await bytes.expectZeros();
    let pax: Pax = {};
    if (textOf(block, FIELDS.type) === "x") {
      pax = await readPax(block, bytes);
      block = await bytes.exactly(BLOCK);
    }
    const { name, mode, type, ...header } = parseHeader(block);
    const path = pax.path ?? name;
    const size = pax.size ?? header.size;
    if (type !== "0" && type !== "5") {
      const what = TYPE_NAMES[type] ?? `of the type ${JSON.stringify(type)}`;
      throw new TarError(
        `"${path}" is ${what}; a backup holds files and folders only`,
      );
    }
    const isFolder = type === "5";
    if (isFolder && size > 0) throw new TarError(`the folder "${path}" has a content`);
    const content = bytes.counted(size);
    yield { path: isFolder ? path.replace(/\/$/, "") : path, size, mode, isFolder, bytes: content };
    for await (const _ of content);
    await bytes.exactly(tarPadding(size).length);
  }
}

interface Pax {
  path?: string;
  size?: number;
}

async function readPax(block: Uint8Array, bytes: ByteReader): Promise<Pax> {
  const { size } = parseHeader(block);
  if (size > MAX_PAX_BYTES) throw new TarError(`an extended header has ${size} bytes`);
  const body = await bytes.exactly(size);
  await bytes.exactly(tarPadding(size).length);
  const pax: Pax = {};
  for (let at = 0; at < body.length;) {
    const space = body.indexOf(0x20, at);
    const length = space === -1 ? NaN : Number(new TextDecoder().decode(body.subarray(at, space)));
    const record = decode(body.subarray(space + 1, at + length));
    const [, key, value] = /^([^=]+)=(.*)\n$/s.exec(record) ?? [];
    if (!Number.isSafeInteger(length) || length <= 0 || at + length > body.length) {
      throw new TarError("an extended header can't be read");
    }
    if (key === "path") pax.path = value;
    else if (key === "size" && Number.isSafeInteger(Number(value)) && Number(value) >= 0) {
      pax.size = Number(value);
    } else throw new TarError(`an extended header has the key "${key}"`);
    at += length;
  }
  return pax;
}

interface Block {
  name: string;
  mode: number;
  size: number;
  mtime: number;
  type: string;
}

function headerBlock({ name, mode, size, mtime, type }: Block): Bytes {
  const block = new Uint8Array(BLOCK);
  const put = ([at, length]: readonly [number, number], text: string) => {
    // Writes whole characters only: a name that is too long stands in a pax header.
    new TextEncoder().encodeInto(text, block.subarray(at, at + length));
  };
  const octal = ([at, length]: readonly [number, number], value: number) =>
    put([at, length], value.toString(8).padStart(length - 1, "0"));
  put(FIELDS.name, name);
  octal(FIELDS.mode, mode);
  octal(FIELDS.uid, 0);
  octal(FIELDS.gid, 0);
  octal(FIELDS.size, size);
  octal(FIELDS.mtime, mtime);
  put(FIELDS.type, type);
  put(FIELDS.magic, MAGIC);
  put(FIELDS.checksum, `${checksumOf(block).toString(8).padStart(6, "0")}\0 `);
  return block;
}

function parseHeader(block: Uint8Array): Block {
  if (octalOf(block, FIELDS.checksum) !== checksumOf(block)) {
    throw new TarError("a header's checksum is wrong");
  }
  const [at, length] = FIELDS.magic;
  if (decode(block.subarray(at, at + length)) !== MAGIC || textOf(block, FIELDS.prefix) !== "") {
    throw new TarError("it was packed by another program");
  }
  return {
    name: textOf(block, FIELDS.name),
    mode: octalOf(block, FIELDS.mode),
    size: octalOf(block, FIELDS.size),
    mtime: octalOf(block, FIELDS.mtime),
    type: textOf(block, FIELDS.type),
  };
}

/** The sum of the block's bytes, with blanks for the field of the sum. */
function checksumOf(block: Uint8Array): number {
  const [at, length] = FIELDS.checksum;
  return block.reduce(
    (sum, byte, index) => sum + (index >= at && index < at + length ? 0x20 : byte),
    0,
  );
}

function textOf(block: Uint8Array, [at, length]: readonly [number, number]): string {
  const field = block.subarray(at, at + length);
  const end = field.indexOf(0);
  return decode(end === -1 ? field : field.subarray(0, end));
}

function octalOf(block: Uint8Array, field: readonly [number, number]): number {
  const text = textOf(block, field).trim();
  if (!/^[0-7]+$/.test(text)) throw new TarError("a header has a number that can't be read");
  return Number.parseInt(text, 8);
}

/** Two spellings of a name must not become one. */
function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new TarError("a name is not UTF-8", { cause });
  }
}

/** `<length> <key>=<value>\n`, where the length counts itself. */
function paxRecord(key: string, value: string): string {
  const rest = ` ${key}=${value}\n`;
  let length = byteLength(rest);
  while (byteLength(`${length}${rest}`) !== length) length++;
  return `${length}${rest}`;
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}

function concat(parts: readonly Uint8Array[]): Bytes {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Takes bytes out of a stream in the pieces that are asked for. */
class ByteReader implements AsyncDisposable {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  #left: Uint8Array = new Uint8Array();

  constructor(source: ReadableStream<Uint8Array>) {
    this.#reader = source.getReader();
  }

  async exactly(length: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = [];
    for await (const part of this.counted(length)) parts.push(part);
    return parts.length === 1 ? parts[0]! : concat(parts);
  }

  /** Iterating it again goes on where the last iteration stopped. */
  counted(length: number): AsyncIterable<Uint8Array> {
    let missing = length;
    const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
      if (missing === 0) return { done: true, value: undefined };
      if (!await this.#fill()) throw new TarError("it ends too early");
      const value = this.#left.subarray(0, missing);
      this.#left = this.#left.subarray(value.length);
      missing -= value.length;
      return { done: false, value };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** Behind the end of an archive come zeros only. */
  async expectZeros(): Promise<void> {
    while (await this.#fill()) {
      if (this.#left.some((byte) => byte !== 0)) throw new TarError("something follows its end");
      this.#left = new Uint8Array();
    }
  }

  async #fill(): Promise<boolean> {
    while (this.#left.length === 0) {
      const { done, value } = await this.#reader.read();
      if (done) return false;
      this.#left = value;
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {});
  }
}
