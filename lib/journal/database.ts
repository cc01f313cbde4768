import { DatabaseSync } from "node:sqlite";
import { ServiceError } from "../base/errors.ts";
import { migrate, type Migration, openWithCopy, refuseNewer } from "../base/migrate.ts";

/** Says in the file's header that it is a journal of this program ("srvc"). */
const APPLICATION_ID = 0x73727663;

/** How long a write waits for another process, such as a shell of the operator, milliseconds. */
const BUSY_TIMEOUT_MS = 2_000;

/** Bytes that the write-ahead log keeps on the disk after a checkpoint. */
const WAL_KEPT_BYTES = 16 * 1024 * 1024;

/**
 * Opens the SQLite file at `path`, makes it (mode 0600) if there is none, and brings it to the newest
 * of `migrations`; a copy as it was before that is kept, and `onCopied` told of it. `:memory:` is a
 * database of its own that vanishes with the handle.
 *
 * Throws `database_newer` for a file of a later program, and `database_unusable` with the reason for one that
 * is damaged, is no SQLite database or belongs to another program; such a file is left as it was.
 *
 * Needs read and write permission for the path; SQLite keeps `-wal` and `-shm` files beside it.
 */
export function openDatabase(
  path: string,
  migrations: readonly Migration[],
  onCopied: (copy: string, version: number) => void = () => {},
): DatabaseSync {
  let db: DatabaseSync | undefined;
  try {
    if (path !== ":memory:") prepareFile(path, migrations);
    db = openWithCopy({
      path,
      open() {
        const opened = open(path);
        try {
          refuseForeign(opened);
          return opened;
        } catch (error) {
          opened.close();
          throw error;
        }
      },
      migrations,
      onCopied,
    });
    // Before the first table, or it has no effect; deleting a session then gives its space back.
    db.exec("PRAGMA auto_vacuum = INCREMENTAL");
    db.exec("PRAGMA journal_mode = WAL");
    db.exec(`PRAGMA journal_size_limit = ${WAL_KEPT_BYTES}`);
    db.exec("PRAGMA synchronous = FULL");
    db.exec("PRAGMA trusted_schema = OFF");
    // What a large write might have to undo: this process may make no files elsewhere.
    db.exec("PRAGMA temp_store = MEMORY");
    // What is deleted is overwritten, so that a deleted session is in the file no more.
    db.exec("PRAGMA secure_delete = ON");
    migrate(db, migrations, path);
    return db;
  } catch (error) {
    if (db?.isOpen) db.close();
    throw cannotOpen(path, error);
  }
}

function open(path: string): DatabaseSync {
  return new DatabaseSync(path, {
    enableForeignKeyConstraints: true,
    enableDoubleQuotedStringLiterals: false,
    timeout: BUSY_TIMEOUT_MS,
  });
}

/** The error that says that a database cannot be opened, and why. */
export function cannotOpen(path: string, error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const reason = error instanceof Error ? error.message : String(error);
  return new ServiceError(
    "database_unusable",
    `Cannot open the database "${path}": ${reason}`,
    {},
    { cause: error },
  );
}

/** Makes the file, or looks at its first bytes before SQLite touches it. */
function prepareFile(path: string, migrations: readonly Migration[]): void {
  const header = new Uint8Array(100);
  let length = 0;
  try {
    // Closed before SQLite opens the file: closing it later would drop the locks of this process.
    using file = Deno.openSync(path);
    const info = file.statSync();
    if (!info.isFile) throw new Error("it is not a file");
    if (Deno.build.os !== "windows" && ((info.mode ?? 0) & 0o077) !== 0) {
      Deno.chmodSync(path, 0o600);
    }
    while (length < header.length) {
      const read = file.readSync(header.subarray(length));
      if (read === null) break;
      length += read;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    Deno.openSync(path, { write: true, createNew: true, mode: 0o600 }).close();
    return;
  }
  if (length === 0) return;
  const magic = new TextDecoder().decode(header.subarray(0, 16));
  if (length < header.length || magic !== "SQLite format 3\0") {
    throw new Error("it is not a SQLite database");
  }
  // Offsets of the user version and the application id (SQLite file format, 1.3).
  const view = new DataView(header.buffer);
  const applicationId = view.getUint32(68);
  if (applicationId !== 0 && applicationId !== APPLICATION_ID) {
    throw new Error("it is the database of another program");
  }
  if (applicationId === APPLICATION_ID) refuseNewer(path, view.getUint32(60), migrations);
}

/** The same judgement with what the write-ahead log adds to the file's first page. */
function refuseForeign(db: DatabaseSync): void {
  const [id, objects] = [
    db.prepare("PRAGMA application_id").get()!.application_id,
    db.prepare("SELECT count(*) AS n FROM sqlite_schema").get()!.n as number,
  ];
  if (id === APPLICATION_ID || (id === 0 && objects === 0)) return;
  throw new Error("it is the database of another program");
}
