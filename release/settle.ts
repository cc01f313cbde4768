/**
 * The end of unpacking a self-extracting file: checks what was unpacked, and puts it in its place. Run by
 * the Deno that was unpacked with it, so it imports nothing.
 *
 *     deno run settle.js UNPACKED FOLDER FILE OFFSET HASH
 *
 * @module
 */

/** How long an unpacking may take: what is older was left by one that was killed. */
const LEFT_MS = 3_600_000;

/** By this file the next start knows that the program is whole; whatever is newer has changed. */
const VERIFIED = "verified";

const [unpacked, folder, file, offset, hash] = Deno.args as [
  string,
  string,
  string,
  string,
  string,
];

/** Whether the archive in the file is the one that it was made with. `offset`: of its first byte, from 1. */
async function isWhole(): Promise<boolean> {
  const bytes = await Deno.readFile(file);
  const digest = await crypto.subtle.digest("SHA-256", bytes.subarray(Number(offset) - 1));
  return new Uint8Array(digest).toHex() === hash;
}

/** Paths of all files and folders, relative; a folder comes before what is in it. */
function* entriesIn(root: string, below = ""): Generator<{ path: string; isDirectory: boolean }> {
  for (const { name, isDirectory } of Deno.readDirSync(root + below)) {
    const path = `${below}/${name}`;
    yield { path, isDirectory };
    if (isDirectory) yield* entriesIn(root, path);
  }
}

function stamp(root: string): void {
  Deno.writeTextFileSync(`${root}/${VERIFIED}`, "");
  // Later than the time that writing it has given to its folder.
  const now = new Date();
  Deno.utimeSync(`${root}/${VERIFIED}`, now, now);
}

/**
 * Holds what is in the place already against what was unpacked: two first runs, or a folder that changed.
 * What is missing comes back. The path of the first thing that differs, if one does.
 */
async function compare(): Promise<string | undefined> {
  const { uid } = await Deno.lstat(folder);
  for (const { path, isDirectory } of [...entriesIn(unpacked)]) {
    if (path === `/${VERIFIED}`) continue;
    const info = await Deno.lstat(folder + path).catch(() => undefined);
    if (info === undefined) {
      if (isDirectory) await Deno.mkdir(folder + path);
      else await Deno.rename(unpacked + path, folder + path);
      continue;
    }
    const isOursAlone = info.uid === uid && ((info.mode ?? 0) & 0o022) === 0;
    const isAlike = isDirectory ? info.isDirectory : info.isFile && await isSame(path);
    if (!isOursAlone || !isAlike) return path.slice(1);
  }
}

async function isSame(path: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([unpacked, folder].map((root) => digestOf(root + path)));
  return ours === theirs;
}

async function digestOf(path: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(path))).toHex();
}

/** Removes what unpackings left that were killed. */
async function removeLeft(base: string): Promise<void> {
  for await (const { name } of Deno.readDir(base)) {
    if (!name.startsWith(".unpacking-")) continue;
    const { mtime } = await Deno.lstat(`${base}/${name}`);
    if (Date.now() - mtime!.getTime() < LEFT_MS) continue;
    await Deno.remove(`${base}/${name}`, { recursive: true });
  }
}

/** As one word of the shell. */
function quoted(path: string): string {
  return `'${path.replaceAll("'", `'\\''`)}'`;
}

async function settle(): Promise<string | undefined> {
  if (!await isWhole()) return `${file} is damaged. Download it again`;
  stamp(unpacked);
  try {
    await Deno.rename(unpacked, folder);
    return;
  } catch {
    // It is there already; whatever else it may be, the comparison says it.
  }
  const different = await compare();
  if (different !== undefined) {
    return `${folder} has changed: ${different} isn't as it was unpacked. ` +
      `Remove that folder, and the next start unpacks it again: rm -rf ${quoted(folder)}`;
  }
  stamp(folder);
}

const problem = await settle().catch((error: Error) =>
  `Can't unpack into ${folder}: ${error.message}`
);
await removeLeft(folder.replace(/\/[^/]*$/, "")).catch(() => {});
if (problem !== undefined) {
  Deno.stderr.writeSync(new TextEncoder().encode(`error: ${problem}\n`));
  Deno.exit(1);
}
