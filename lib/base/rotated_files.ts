/**
 * The files that a log was set aside into: `service.log.1` is the newest, `service.log.2.gz` a compressed one.
 *
 * @module
 */

/** One of them. */
export interface RotatedFile {
  /** In the log's folder. */
  name: string;
  /** 1 for the newest. */
  number: number;
  bytes: number;
  /** When it was set aside, milliseconds since 1970. */
  at: number;
}

/** The path of one. */
export function rotatedName(path: string, number: number, isCompressed: boolean): string {
  return `${path}.${number}${isCompressed ? ".gz" : ""}`;
}

/** Those of a log, the newest first. */
export async function rotatedFiles(path: string): Promise<RotatedFile[]> {
  const slash = path.lastIndexOf("/");
  const [folder, log] = [path.slice(0, slash), path.slice(slash + 1)];
  const found: RotatedFile[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile || !name.startsWith(`${log}.`)) continue;
      const digits = /^([1-9]\d{0,5})(\.gz)?$/.exec(name.slice(log.length + 1))?.[1];
      if (digits === undefined) continue;
      const info = await Deno.lstat(`${folder}/${name}`).catch(() => undefined);
      if (info === undefined) continue;
      const at = info.mtime?.getTime() ?? 0;
      found.push({ name, number: Number(digits), bytes: info.size, at });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return found.sort((a, b) => a.number - b.number || a.name.length - b.name.length);
}

/** What one holds, from a place on; undefined where there is none of that number. */
export async function readRotated(path: string, number: number, from = 0) {
  const plain = await readFrom(rotatedName(path, number, false), from);
  if (plain !== undefined) return plain;
  const packed = await readFrom(rotatedName(path, number, true), 0);
  if (packed === undefined) return undefined;
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer()).subarray(from);
}

/** The bytes of a file from a place on; undefined where there is no file. */
export async function readFrom(
  path: string,
  at: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    using file = await Deno.open(path);
    await file.seek(at, Deno.SeekMode.Start);
    return new Uint8Array(await new Response(file.readable).arrayBuffer());
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
