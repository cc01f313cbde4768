/**
 * Everything that the authority remembers for operators: tokens, grants, latches, pending approvals,
 * codes of strangers, findings of dry runs, secrets.
 *
 * Every change leaves what the audit is to be told of it in the same write, and an open state that has
 * an audit passes it on: its own at once, those of other processes when it reads them. Whoever changes
 * something makes no record of his own.
 *
 * @module
 */

import type { writeFileAtomic } from "../base/atomic_write.ts";
import { makePrivateDir } from "../base/private_dir.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { createGrantStore, type GrantStore, parseGrants } from "./grant_store.ts";
import { createFindingStore, type FindingStore, parseFindings } from "./finding_store.ts";
import { createLatchStore, type LatchStore, parseLatches } from "./latch_store.ts";
import { createTokenStore, parseTokens, type TokenStore } from "./token_store.ts";
import { isDamaged } from "./damaged.ts";
import { createSecretStore, type SecretStore, type SecretStoreDeps } from "./secret_store.ts";
import { NO_SECRETS, parseSecrets } from "./stored_secrets.ts";
import type { OperatorAudit, OperatorRecordKind } from "./operator_record.ts";
import {
  createPairingStore,
  NO_PAIRINGS,
  type PairingStore,
  parsePairings,
} from "./pairing_store.ts";
import { createPendingStore, parsePending, type PendingStore } from "./pending_store.ts";
import { SealedFile, type SealedFileOptions } from "./sealed_file.ts";
import { StateLock } from "./state_lock.ts";

/** How the state is opened. */
export interface OperatorStateOptions {
  /** Folder of the files, made with mode 0700. */
  dir: string;
  /** Folder of the key, made with mode 0700. */
  keysDir: string;
  /** Value of SERVICE_SECRETS_KEY; empty or undefined: the key of the secrets is in its folder. */
  secretsKey?: string;
  /** Undefined in a command beside a running service: records then wait in the files. */
  audit?: OperatorAudit;
  now?: () => number;
  /**
   * How often to look whether another process changed something, ms, so that the audit has it also when
   * nobody uses it; by default never.
   */
  watchMs?: number;
  /** Takes what goes wrong when nobody waits for it. */
  log?: Pick<Log, "error">;
  /** Instead of the disk's; for tests. */
  write?: typeof writeFileAtomic;
}

/** The state of a home. Several processes may have it open at once. */
export interface OperatorState {
  readonly tokens: TokenStore;
  readonly grants: GrantStore;
  readonly latches: LatchStore;
  readonly pending: PendingStore;
  readonly pairings: PairingStore;
  readonly findings: FindingStore;
  readonly secrets: SecretStore;
  /** Puts on record what a command is about to do, as itself changes nothing here. */
  note(kind: OperatorRecordKind, data: Record<string, unknown>): Promise<void>;
  /** What is wrong with grants or latches, for people; actions that are not allowed are then refused. */
  damaged(): string | undefined;
  /**
   * Gives an audit what waits, also from other processes; by default the one that the state was
   * opened with. Nothing is lost when it rejects.
   */
  record(audit?: OperatorAudit): Promise<void>;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** Bytes of a file of state at most. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Of that of secrets: each change encrypts one and opens all of them. */
const MAX_SECRETS_BYTES = 4 * 1024 * 1024;

/**
 * Opens the state of a home, and puts in order what a crash left. Damage is no failure; folders that
 * cannot be used are `config_invalid`.
 */
export async function openOperatorState(options: OperatorStateOptions): Promise<OperatorState> {
  try {
    return await open(options);
  } catch (cause) {
    if (cause instanceof ServiceError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new ServiceError(
      "config_invalid",
      `Cannot use the folders "${options.dir}" and "${options.keysDir}": ${reason}`,
      {},
      { cause },
    );
  }
}

async function open(options: OperatorStateOptions): Promise<OperatorState> {
  const { dir, keysDir, secretsKey, audit, now = Date.now, watchMs, log, write } = options;
  await makePrivateDir(dir);
  await makePrivateDir(keysDir);
  const lock = new StateLock({ path: `${dir}/lock` });
  let passing: Promise<void> | undefined;
  let again = false;
  /** What comes up while records are passed on is passed on in one more round. */
  const passOn = async (to: OperatorAudit) => {
    try {
      do {
        again = false;
        await record(to);
      } while (again);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log?.error("What operators changed is not in the audit yet", { reason });
    }
    passing = undefined;
  };
  const onRecords = () => {
    if (audit === undefined) return Promise.resolve();
    again = true;
    return passing ??= passOn(audit);
  };
  const files = filesOf({ dir, keysDir, lock, now, write, onRecords });
  const record = async (to: OperatorAudit) => {
    for (const file of Object.values(files)) await file.record(to);
  };
  await SealedFile.open(Object.values(files), { dir, keysDir, lock });
  await onRecords();
  const secrets = createSecretStore(secretDeps(files.secrets, {
    lock,
    keysDir,
    keyFromEnv: secretsKey,
    now,
    write,
  }));
  for (const { name, damaged } of damageOf(files, secrets)) {
    log?.error("State of operators is damaged", { file: name, reason: damaged });
  }

  // Reading is enough: what it finds is passed on.
  const look = () => {
    Object.values(files).forEach((file) => file.read());
    secrets.damaged();
  };
  const watcher = watchMs === undefined ? undefined : setInterval(look, watchMs);
  if (watcher !== undefined) Deno.unrefTimer(watcher);

  const depsOf = <File>(name: string, file: File) => ({ file, now, repair: repairOf(name) });
  const tokens = createTokenStore(depsOf("tokens", files.tokens));
  const grants = createGrantStore(depsOf("grants", files.grants));
  const latches = createLatchStore(depsOf("latches", files.latches));
  return {
    tokens,
    grants,
    latches,
    pending: createPendingStore(files.pending),
    pairings: createPairingStore({ file: files.pairings, now }),
    findings: createFindingStore(files.findings),
    secrets,
    async note(kind, data) {
      // Nothing but records that wait is lost with a damaged one, and that is on record. A damaged key stays.
      await files.notes.reset(undefined, { keepKey: true });
      await files.notes.update(() => ({
        value: null,
        records: [{ kind, data }],
        result: undefined,
      }));
    },
    damaged: () => latches.damaged() ?? grants.damaged(),
    async record(to = audit) {
      await passing;
      if (to !== undefined) await record(to);
    },
    async close() {
      clearInterval(watcher);
      await tokens.close();
      await latches.close();
      await onRecords();
    },
  };
}

/** Files that begin anew by themselves when they are damaged. */
export const MENDS_ITSELF: ReadonlySet<string> = new Set([
  "pending",
  "pairings",
  "findings",
  "notes",
]);

/** A file of state that is damaged. */
export interface StateDamage {
  name: string;
  /** For people: what is wrong with it. */
  damaged: string;
  /** What an operator types to set it aside. */
  repair: string;
}

/** Folders and key of a home's state, to look at. */
export type StatePlace = Pick<OperatorStateOptions, "dir" | "keysDir" | "secretsKey">;

/** Which files of a home are damaged. Changes nothing, and makes no folder. */
export function findStateDamage(place: StatePlace): StateDamage[] {
  const { files, secrets } = lookAt(place);
  return damageOf(files, secrets);
}

/** The secrets of a home as they are now, to read. Changes nothing, and makes no folder. */
export function readSecrets(
  place: StatePlace,
): Pick<SecretStore, "list" | "reveal" | "revealAll" | "damaged"> {
  return lookAt(place).secrets;
}

function lookAt({ dir, keysDir, secretsKey }: StatePlace) {
  const lock = new StateLock({ path: `${dir}/lock` });
  const files = filesOf({ dir, keysDir, lock, now: Date.now });
  const deps = { lock, keysDir, keyFromEnv: secretsKey, now: Date.now };
  return { files, secrets: createSecretStore(secretDeps(files.secrets, deps)) };
}

function secretDeps(
  file: SecretStoreDeps["file"],
  deps: Omit<SecretStoreDeps, "file" | "repair">,
): SecretStoreDeps {
  return { ...deps, file, repair: repairOf("secrets") };
}

function damageOf(files: ReturnType<typeof filesOf>, secrets: SecretStore): StateDamage[] {
  return Object.entries(files).flatMap(([name, file]) => {
    const state = file.read();
    // Secrets can be out of reach although their file is whole.
    const damaged = name === "secrets"
      ? secrets.damaged()
      : isDamaged(state)
      ? state.damaged
      : undefined;
    return damaged === undefined ? [] : [{ name, damaged, repair: repairOf(name) }];
  });
}

type FileDeps = Pick<
  SealedFileOptions<never>,
  "dir" | "keysDir" | "lock" | "now" | "write" | "onRecords"
>;

function filesOf(deps: FileDeps) {
  const fileOf = <T>(
    name: string,
    empty: T,
    parse: (value: unknown) => T,
    maxBytes = MAX_BYTES,
  ) => new SealedFile<T>({ ...deps, name, empty, parse, maxBytes, repair: repairOf(name) });
  return {
    tokens: fileOf("tokens", [], parseTokens),
    grants: fileOf("grants", [], parseGrants),
    latches: fileOf("latches", [], parseLatches),
    pending: fileOf("pending", [], parsePending),
    pairings: fileOf("pairings", NO_PAIRINGS, parsePairings),
    findings: fileOf("findings", [], parseFindings),
    notes: fileOf("notes", null, () => null),
    secrets: fileOf("secrets", NO_SECRETS, parseSecrets, MAX_SECRETS_BYTES),
  };
}

/** What mends itself with its next change has no command: then it is the key that is damaged. */
function repairOf(name: string): string {
  if (MENDS_ITSELF.has(name)) return "service doctor";
  return `service ${name === "latches" ? "blocks" : name} reset`;
}
