/**
 * Writes a backup of a home, whether its service runs or not.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { backup, DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { AUDIT_FILE } from "../audit/log.ts";
import { syncFolder } from "../base/atomic_write.ts";
import { isInside } from "../base/inside.ts";
import { realPathOf } from "../base/real_path.ts";
import type { HomePaths } from "../config/paths.ts";
import { StateLock } from "../state/state_lock.ts";
import { CHUNK_BYTES, chunksOf } from "./chunks_of.ts";
import { explain } from "./explain.ts";
import { type HomeFile, listHome, listWorkspace, STAGING_PREFIX } from "./home_files.ts";
import { openTemporary, openTemporaryFolder } from "./leftovers.ts";
import {
  BACKUP_FORMAT,
  type BackupHead,
  HEAD_ENTRY,
  headText,
  HOME_ENTRY,
  MANIFEST_ENTRY,
} from "./manifest.ts";
import { ManifestFileWriter } from "./manifest_file.ts";
import { type Bytes, tarEnd, tarHeader, tarPadding } from "./tar.ts";

/** What is backed up. */
export interface BackupOptions {
  paths: HomePaths;
  /** Version of this program. */
  version: string;
  /** The folder that the agent works in, absolute; it doesn't have to exist. */
  workspace: string;
  /** Whether the workspace is part of the backup. */
  withWorkspace: boolean;
  /** Whether the key of the secrets is in SERVICE_SECRETS_KEY. */
  secretsKeyOutside: boolean;
  signal?: AbortSignal;
  onProgress?: (progress: { bytes: number; files: number }) => void;
  now?: () => number;
}

/** What was written. */
export interface BackupSummary {
  createdAt: string;
  files: number;
  /** Bytes of the files, before compression. */
  bytes: number;
  /** Links and devices of the workspace that were left out. */
  skipped: number;
}

/** How long SQLite may be busy. */
const BUSY_TIMEOUT_MS = 10_000;

/** How often the audit log may begin a new file while it is looked at. */
const MAX_ATTEMPTS = 5;

/** In one step: a step that follows a write of the service would begin anew. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Writes a backup to a file of mode 0600, which takes its name once it is whole. Throws `conflict` when
 * there is a file and `replace` is false, `invalid_request` for a file inside the home.
 */
export async function backupToFile(
  path: string,
  { replace, ...options }: BackupOptions & { replace: boolean },
): Promise<BackupSummary & { size: number }> {
  const { paths: { home }, workspace, withWorkspace } = options;
  for (const folder of withWorkspace ? [home, workspace] : [home]) {
    if (!isInside(realPathOf(path), realPathOf(folder))) continue;
    const message = `Cannot write the backup to "${path}": it is inside "${folder}", which is ` +
      "backed up";
    throw new ServiceError("invalid_request", message);
  }
  const there = await Deno.lstat(path).catch(() => undefined);
  if (there !== undefined && !there.isFile) {
    throw new ServiceError("conflict", `Cannot write the backup to "${path}": it isn't a file`);
  }
  if (there !== undefined && !replace) throw alreadyThere(path);
  return await explain(`Cannot write the backup to "${path}"`, async () => {
    const { file, temporary } = openTemporary(path);
    try {
      const summary = await writeBackup(sinkOf(file), options);
      await file.sync();
      const { size } = await file.stat();
      await takeName(temporary, path, replace);
      await syncFolder(path);
      return { ...summary, size };
    } finally {
      file.close();
      await Deno.remove(temporary).catch(() => {});
    }
  });
}

/** Writes a backup to standard output, and closes it. */
export async function backupToStream(
  sink: WritableStream<Uint8Array>,
  options: BackupOptions,
): Promise<BackupSummary> {
  return await explain(
    "Cannot write the backup to standard output",
    () => writeBackup(sink, options),
  );
}

async function writeBackup(
  sink: WritableStream<Uint8Array>,
  options: BackupOptions,
): Promise<BackupSummary> {
  const { paths, signal } = options;
  if (!await exists(paths.home)) {
    throw new ServiceError("not_found", `There is no home at "${paths.home}"`);
  }
  // In no folder that another process of the service sees: it holds copies of the keys.
  using staging = openTemporaryFolder(paths.home, STAGING_PREFIX);
  const writer = new BackupWriter(options, staging.path);
  await ReadableStream.from(writer.archive())
    .pipeThrough(new CompressionStream("gzip"))
    .pipeTo(sink, { signal });
  return writer.summary;
}

function sinkOf(file: Deno.FsFile): WritableStream<Uint8Array> {
  return new WritableStream({
    async write(bytes) {
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
    },
  });
}

/** Of two backups that end at once under one name, one is refused. */
async function takeName(temporary: string, path: string, replace: boolean): Promise<void> {
  if (replace) return await Deno.rename(temporary, path);
  try {
    await Deno.link(temporary, path);
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists || await exists(path)) throw alreadyThere(path);
    // Not every file system has hard links.
    await Deno.rename(temporary, path);
  }
}

function alreadyThere(path: string): ServiceError {
  return new ServiceError("conflict", `"${path}" already exists. Replace it with: --force`);
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

/** One archive, as bytes of tar. */
class BackupWriter {
  readonly #options: BackupOptions;
  readonly #staging: string;
  readonly #head: BackupHead;
  readonly #manifest: ManifestFileWriter;
  #files = 0;
  #bytes = 0;
  #skipped = 0;

  constructor(options: BackupOptions, staging: string) {
    const { version, secretsKeyOutside, now = Date.now } = options;
    this.#options = options;
    this.#staging = staging;
    const createdAt = new Date(now()).toISOString();
    this.#head = {
      product: "service",
      format: BACKUP_FORMAT,
      version,
      createdAt,
      secretsKeyOutside,
    };
    this.#manifest = new ManifestFileWriter(`${staging}/${MANIFEST_ENTRY}`, this.#head);
  }

  get summary(): BackupSummary {
    return {
      createdAt: this.#head.createdAt,
      files: this.#files,
      bytes: this.#bytes,
      skipped: this.#skipped,
    };
  }

  async *archive(): AsyncGenerator<Bytes> {
    yield* this.#text(HEAD_ENTRY, headText(this.#head));
    for await (const file of this.#readable()) {
      if (file.kind === "folder") yield* this.#folder(file.path);
      else yield* this.#file(file);
    }
    using manifest = this.#manifest.end();
    const { size } = manifest.statSync();
    yield tarHeader({
      path: MANIFEST_ENTRY,
      size,
      mode: 0o600,
      mtime: this.#mtime,
      isFolder: false,
    });
    yield* chunksOf(manifest, size, MANIFEST_ENTRY);
    yield tarPadding(size);
    yield tarEnd();
  }

  /**
   * The files in an order in which what refers to something is copied before it. What a channel needs for a
   * message, such as its key, is on the disk before the journal says that it was read, and so are the
   * journal's files before it names them; the audit log is at least as long as its head in the keys says.
   */
  async *#readable(): AsyncGenerator<HomeFile> {
    const { paths, workspace, withWorkspace } = this.#options;
    const leaveOut = new Set([realPathOf(workspace), realPathOf(paths.workspace)]);
    const staged = await this.#stageSealed(leaveOut);
    const databases: HomeFile[] = [];
    for await (const file of listHome(paths, leaveOut)) {
      if (file.kind === "database") databases.push(file);
    }
    databases.sort((a, b) => placeOf(a) - placeOf(b));
    for (const file of databases) staged.push(await this.#snapshot(file));
    yield* [...staged, ...await this.#stageLogs()];
    // Listed again: files came while the journal was copied.
    for await (const file of listHome(paths, leaveOut)) if (file.kind === "plain") yield file;
    if (withWorkspace && await exists(workspace)) {
      yield* listWorkspace(workspace, () => this.#skipped++);
    }
  }

  /** Copies sealed files and keys between two changes of theirs. */
  async #stageSealed(leaveOut: ReadonlySet<string>): Promise<HomeFile[]> {
    const { paths, paths: { operatorDir, dataDir } } = this.#options;
    const copy = async () => {
      const staged: HomeFile[] = [];
      // Listed under the lock: a file and what is known of it in the keys come together.
      for await (const file of listHome(paths, new Set([...leaveOut, realPathOf(dataDir)]))) {
        if (file.kind !== "sealed") continue;
        const source = this.#stagedPath(staged.length, "sealed");
        await Deno.copyFile(file.source, source);
        staged.push({ ...file, source });
      }
      return staged;
    };
    const hasState = await Deno.stat(operatorDir).then(() => true, () => false);
    if (!hasState) return await copy();
    return await new StateLock({ path: `${operatorDir}/lock` }).run(copy);
  }

  /** A copy of a database as it is at one moment. Readers of a write-ahead log block nobody. */
  async #snapshot(file: HomeFile): Promise<HomeFile> {
    const source = this.#stagedPath(file.path, "database");
    await explain(`Cannot copy the database "${file.source}"`, async () => {
      const options = { readOnly: true, timeout: BUSY_TIMEOUT_MS };
      using database = new DatabaseSync(file.source, options);
      await backup(database, source, { rate: ALL_PAGES });
    });
    return { ...file, source };
  }

  /** The files of the audit log under names that a rotation doesn't change. */
  async #stageLogs(): Promise<HomeFile[]> {
    const { auditDir } = this.#options.paths;
    for (let attempt = 1;; attempt++) {
      const names = await logNames(auditDir);
      const staged: HomeFile[] = [];
      for (const name of names) {
        const source = this.#stagedPath(`${attempt}.${name}`, "log");
        const from = await Deno.realPath(`${auditDir}/${name}`);
        // On the same disk a second name costs nothing.
        await Deno.link(from, source).catch(() => Deno.copyFile(from, source));
        // What is set aside of a torn line has no line end.
        const kind = name === AUDIT_FILE ? "log" : "plain";
        staged.push({ source, path: `${HOME_ENTRY}/audit/${name}`, kind });
      }
      if (attempt === MAX_ATTEMPTS || `${await logNames(auditDir)}` === `${names}`) {
        return staged;
      }
    }
  }

  #stagedPath(name: string | number, kind: string): string {
    return `${this.#staging}/${kind}.${`${name}`.replaceAll("/", "_")}`;
  }

  async *#file({ source, path, kind }: HomeFile): AsyncGenerator<Bytes> {
    const { onProgress } = this.#options;
    using file = await Deno.open(source).catch((error) => {
      // A session was deleted meanwhile, and its files with it.
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    });
    if (file === undefined) return;
    const info = await file.stat();
    const size = kind === "log" ? await wholeLines(file, info.size) : info.size;
    const mode = (info.mode ?? 0) & 0o100 ? 0o700 : 0o600;
    const mtime = Math.floor((info.mtime?.getTime() ?? 0) / 1_000);
    yield tarHeader({ path, size, mode, mtime, isFolder: false });
    const hash = createHash("sha256");
    for await (const chunk of chunksOf(file, size, source)) {
      hash.update(chunk);
      this.#bytes += chunk.length;
      yield chunk;
      onProgress?.({ bytes: this.#bytes, files: this.#files });
    }
    yield tarPadding(size);
    this.#files++;
    this.#manifest.add({ path, size, sha256: hash.digest("hex") });
  }

  *#folder(path: string): Generator<Bytes> {
    yield tarHeader({ path, size: 0, mode: 0o700, mtime: 0, isFolder: true });
    this.#manifest.add({ path: `${path}/`, size: 0, sha256: EMPTY_SHA256 });
  }

  *#text(path: string, text: string): Generator<Bytes> {
    const bytes = new TextEncoder().encode(text);
    const size = bytes.length;
    yield tarHeader({ path, size, mode: 0o600, mtime: this.#mtime, isFolder: false });
    yield bytes;
    yield tarPadding(size);
  }

  get #mtime(): number {
    return Math.floor(Date.parse(this.#head.createdAt) / 1_000);
  }
}

const EMPTY_SHA256 = createHash("sha256").digest("hex");

/** What an earlier version's channel had heard comes before the journal, which takes it over. */
function placeOf({ path }: HomeFile): number {
  if (path.endsWith("/intake.sqlite")) return 0;
  return path === `${HOME_ENTRY}/data/service.db` ? 1 : 2;
}

async function logNames(auditDir: string): Promise<string[]> {
  try {
    const names = await Array.fromAsync(Deno.readDir(auditDir), ({ name }) => name);
    return names.filter((name) => name.endsWith(".jsonl")).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Bytes up to the last line end: the line behind it is being written. */
async function wholeLines(file: Deno.FsFile, size: number): Promise<number> {
  const chunk = new Uint8Array(CHUNK_BYTES);
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - chunk.length);
    await file.seek(start, Deno.SeekMode.Start);
    const read = await file.read(chunk.subarray(0, end - start)) ?? 0;
    const last = chunk.subarray(0, read).lastIndexOf(0x0a);
    if (last !== -1) {
      await file.seek(0, Deno.SeekMode.Start);
      return start + last + 1;
    }
    end = start;
  }
  return 0;
}
