/**
 * A log file that is set aside when it is full or old. It is copied and emptied, not renamed: what else
 * writes to it by a descriptor that it inherited, such as a crash, goes on in the same file. Processes that
 * write it through here at once lose no line: a write holds a shared lock of the file, and a rotation an
 * exclusive one.
 *
 * @module
 */

import { rotatedFiles, rotatedName } from "./rotated_files.ts";

/** When a log file is set aside, and what is kept. */
export interface LogRotation {
  /** Bytes after which it is. */
  maxBytes: number;
  /** Milliseconds after its first line; 0: whatever its age. */
  maxAgeMs: number;
  /** Files that are kept beside it. */
  keepFiles: number;
  /** Whether those are compressed. */
  compress: boolean;
}

/** How much more is written before a rotation that failed is tried again, part of the bound. */
const RETRY_PART = 0.1;

/** Bytes at the beginning of a file in which the time of its first line stands. */
const FIRST_LINE_BYTES = 256;

/** A log file. */
export interface RotatedLog {
  write(bytes: Uint8Array): Promise<number>;
  /** Waits for what is being compressed. */
  settled(): Promise<void>;
}

/** The log at `path`, which is opened anew for each write: somebody may have moved it. `now` in milliseconds. */
export function rotatedLog(path: string, rotation: LogRotation, now = Date.now): RotatedLog {
  const { maxBytes, maxAgeMs, compress } = rotation;
  /** Above `maxBytes` while no copy can be made. */
  let limit = maxBytes;
  let compressing: Promise<void> = Promise.resolve();

  async function isDue(file: Deno.FsFile, bytes: number): Promise<boolean> {
    const { size } = await file.stat();
    if (size === 0) return false;
    return size + bytes > limit || maxAgeMs > 0 && now() - await beganAt(file, now()) >= maxAgeMs;
  }

  async function rotate(bytes: number): Promise<void> {
    await compressing;
    using file = await open(path);
    await lock(file, "exclusive");
    // Another process may have been faster.
    if (!await isDue(file, bytes)) return;
    try {
      await setAside(path, file, rotation);
      limit = maxBytes;
      if (compress) compressing = compressFile(`${path}.1`);
    } catch {
      // A full disk, say. A file of twice the bound is emptied without a copy.
      limit = (await file.stat()).size + maxBytes * RETRY_PART;
      if (limit <= 2 * maxBytes) return;
      await file.truncate();
      limit = maxBytes;
    }
  }

  return {
    async write(bytes) {
      for (let attempt = 1;; attempt++) {
        using file = await open(path);
        await lock(file, "shared");
        // One that could not be set aside now is written to all the same.
        if (attempt > 1 || !await isDue(file, bytes.length)) return await file.write(bytes);
        await file.unlock();
        await rotate(bytes.length);
      }
    },
    settled: () => compressing,
  };
}

/** Not every file system over a network has locks; one process alone needs none. */
async function lock(file: Deno.FsFile, how: "shared" | "exclusive"): Promise<void> {
  await file.lock(how === "exclusive").catch(() => {});
}

async function open(path: string): Promise<Deno.FsFile> {
  return await Deno.open(path, { read: true, append: true, create: true, mode: 0o600 });
}

/** Time of the first line, in milliseconds; `unless` where it says none. */
async function beganAt(file: Deno.FsFile, unless: number): Promise<number> {
  const bytes = new Uint8Array(FIRST_LINE_BYTES);
  await file.seek(0, Deno.SeekMode.Start);
  const text = new TextDecoder().decode(bytes.subarray(0, await file.read(bytes) ?? 0));
  const [time] = /\d{4}-\d\d-\d\dT[\d:.]+Z/.exec(text) ?? [];
  return time === undefined ? unless : Date.parse(time);
}

/** Copies the file beside itself and empties it, with nobody else writing; the oldest one gives way. */
async function setAside(
  path: string,
  file: Deno.FsFile,
  { keepFiles }: LogRotation,
): Promise<void> {
  const kept = await rotatedFiles(path);
  for (const { name, number } of kept.toReversed()) {
    const from = `${path.slice(0, path.lastIndexOf("/"))}/${name}`;
    if (number >= keepFiles) await Deno.remove(from);
    else await Deno.rename(from, rotatedName(path, number + 1, name.endsWith(".gz")));
  }
  // A copy has the mode of what it is a copy of.
  if (keepFiles > 0) await Deno.copyFile(path, `${path}.1`);
  await file.truncate();
}

/** Never rejects: a file that cannot be compressed stays as it is. */
async function compressFile(path: string): Promise<void> {
  const unfinished = `${path}.gz.part`;
  try {
    using from = await Deno.open(path);
    using to = await Deno.open(unfinished, {
      write: true,
      create: true,
      truncate: true,
      mode: 0o600,
    });
    const packed = from.readable.pipeThrough(new CompressionStream("gzip"));
    for await (const chunk of packed) {
      for (let at = 0; at < chunk.length;) at += await to.write(chunk.subarray(at));
    }
    await to.sync();
    const { mtime } = await Deno.stat(path);
    await Deno.utime(unfinished, mtime!, mtime!);
    await Deno.rename(unfinished, `${path}.gz`);
    await Deno.remove(path);
  } catch {
    await Deno.remove(unfinished).catch(() => {});
  }
}
