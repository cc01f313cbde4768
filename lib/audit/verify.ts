/**
 * Checks a whole audit: finds a record that was edited, dropped, repeated, reordered or
 * computed anew, a file that is missing or was swapped, and an end that was cut off below the last
 * signed checkpoint. Streams, so the audit may be of any size, and only reads, so it may be in use.
 *
 * @module
 */

import { checkpointOf, isGenuine, mayCheckpoint } from "./checkpoint.ts";
import { type AuditRecord, GENESIS, MAX_LINE_BYTES, parseRecord } from "./record.ts";
import { AUDIT_FILE, closedName, listClosed } from "./files.ts";
import { type Expected, readExpected } from "./expected.ts";
import { HEAD_FILE } from "./head_file.ts";
import type { AuditVerifier } from "./signing_key.ts";
import { type UnknownAction, UnknownActions } from "./unknown_actions.ts";
import { walkAudit, type WalkedLine } from "./walk.ts";

export type { UnknownAction } from "./unknown_actions.ts";

/** What was found in an audit that is whole. */
export interface AuditWhole {
  ok: true;
  records: number;
  files: number;
  /** Number of the first record; more than 1 where older files were pruned. */
  first: number;
  /** When those before it were, milliseconds since 1970. */
  prunedAt?: number;
  /** Hash of the last record. */
  head: string;
  /** The last record that a genuine checkpoint covers; undefined: nothing is signed. */
  signed?: { seq: number; ts: number; key: string };
  /** Bytes at the end that are being written, or that the next start sets aside. */
  tornBytes: number;
  unknown: UnknownAction[];
  /** Older ones of them that are not listed. */
  unknownMore: number;
}

/** What is wrong. */
export type AuditProblem =
  | "unreadable"
  | "edited"
  /** It can't be checked by this program. */
  | "newer"
  | "gap"
  | "order"
  | "chain"
  | "too_long"
  /** A checkpoint that the key did not sign, or about another record. */
  | "checkpoint"
  /** Signed records are missing at the end. */
  | "cut"
  /** Earlier records were lost, and the record itself says so. */
  | "loss"
  /** Another place has a signed checkpoint that this record contradicts. */
  | "mirror";

/** Where an audit is not whole. */
export interface AuditDamage {
  ok: false;
  /** Name of the file in its folder. */
  file: string;
  /** Line of that file, from 1. */
  line: number;
  problem: AuditProblem;
  message: string;
}

export type AuditFinding = AuditWhole | AuditDamage;

/** What is verified, and against what. */
export interface VerifyOptions {
  dir: string;
  /** Keys whose signatures count; without any the chain alone is checked. */
  keys?: readonly AuditVerifier[];
  /** The service's key folder, which knows the last record; absent where it cannot be read. */
  keysDir?: string;
  /** File that checkpoints were appended to as well; empty: none. */
  mirror?: string;
  /** Numbers of `log.gone`, `log.cut` and `home.restored` records that are known, and so no fault. */
  knownLosses?: ReadonlySet<number>;
  signal?: AbortSignal;
  /** Called about every MiB. */
  onProgress?: (progress: { bytes: number; records: number }) => void;
}

const DAMAGES = {
  unreadable: "this is no record",
  edited: "the record was changed after it was written",
  newer: "a newer version of this program wrote the record: verify with that",
};

const PROGRESS_BYTES = 1024 * 1024;

/** How often it is begun anew because the oldest files were pruned under it. */
const MAX_ATTEMPTS = 5;

/** Reads everything and checks each record, link and signature. Throws when it cannot be read. */
export async function verifyAudit(options: VerifyOptions): Promise<AuditFinding> {
  for (let attempt = 1;; attempt++) {
    const [oldest] = await listClosed(options.dir);
    const finding = await verifyOnce(options);
    const isGap = !finding.ok && finding.problem === "gap";
    if (!isGap || attempt === MAX_ATTEMPTS) return finding;
    if ((await listClosed(options.dir))[0] === oldest) return finding;
  }
}

async function verifyOnce(options: VerifyOptions): Promise<AuditFinding> {
  const { dir, signal, onProgress } = options;
  // Read first: what it says must be in a record that may be growing.
  const expected = await readExpected(options);
  const check = new AuditCheck(options, expected);
  let bytes = 0;
  let told = 0;
  const onBytes = (count: number) => {
    bytes += count;
    if (bytes - told < PROGRESS_BYTES) return;
    told = bytes;
    onProgress?.({ bytes, records: check.records });
  };
  for await (const line of walkAudit({ dir, signal, onBytes })) {
    const damage = await check.take(line);
    if (damage !== undefined) return damage;
  }
  return check.finish();
}

class AuditCheck {
  records = 0;
  readonly #keys: ReadonlyMap<string, AuditVerifier>;
  readonly #knownLosses: ReadonlySet<number>;
  readonly #expected: Expected;
  readonly #unknown = new UnknownActions();
  #files = 0;
  #at: Pick<WalkedLine, "file" | "line"> = { file: AUDIT_FILE, line: 1 };
  #first: AuditRecord | undefined;
  #last: AuditRecord | undefined;
  #signed: AuditWhole["signed"];
  /** The record that says that what came before the first one was pruned. */
  #pruned: Pick<AuditRecord, "seq" | "ts"> | undefined;
  #torn = 0;
  #loss: AuditDamage | undefined;

  constructor({ keys = [], knownLosses = new Set() }: VerifyOptions, expected: Expected) {
    this.#keys = new Map(keys.map((key) => [key.fingerprint, key]));
    this.#knownLosses = knownLosses;
    this.#expected = expected;
  }

  async take(line: WalkedLine): Promise<AuditDamage | undefined> {
    if (line.line === 1) this.#files++;
    this.#at = line;
    if (line.text === undefined) {
      return this.#bad("too_long", `longer than a record can be (${MAX_LINE_BYTES} bytes)`);
    }
    if (!line.ended) {
      // Only the file that is written to can end so.
      if (line.file !== AUDIT_FILE) return this.#bad("unreadable", "the line is cut off");
      this.#torn = line.bytes;
      return undefined;
    }
    const record = parseRecord(line.text);
    if ("damage" in record) {
      return this.#bad(record.damage, DAMAGES[record.damage]);
    }
    const damage = this.#checkLink(record) ?? await this.#checkSignatures(record) ??
      this.#checkHead(record);
    if (damage !== undefined) return damage;
    this.#noteLosses(record);
    this.#unknown.note(record);
    this.#first ??= record;
    this.#last = record;
    this.records++;
    return undefined;
  }

  finish(): AuditFinding {
    const last = this.#last;
    const found = last?.seq ?? 0;
    const missing = this.#missingBeginning();
    if (missing !== undefined) return missing;
    const { checkpoint, hasKey, head, mirrorIsMissing } = this.#expected;
    if (mirrorIsMissing) return this.#bad("mirror", "the mirror of its checkpoints is missing");
    if (checkpoint === "damaged") {
      return this.#bad("checkpoint", "the file of the last checkpoint is damaged");
    }
    if (hasKey && checkpoint === undefined) {
      return this.#bad("cut", "the file of the last checkpoint is missing, so the end may be");
    }
    if (checkpoint === "forged") {
      return this.#bad("checkpoint", "the last checkpoint was not signed by the audit's key");
    }
    for (const [missing, { from }] of this.#expected.outstanding) {
      if (missing <= found) continue;
      return this.#bad(
        "cut",
        `it ends with record ${found}, but a checkpoint in ${from} is about record ${missing}`,
      );
    }
    if (head === "damaged") {
      return this.#bad("checkpoint", `"${HEAD_FILE}" in the key folder is damaged`);
    }
    if (head === "missing") {
      return this.#bad("cut", `"${HEAD_FILE}" is missing in the key folder, so the end may be too`);
    }
    if (head !== undefined && head.seq > found) {
      return this.#bad(
        "cut",
        `it ends with record ${found}, but the key folder knows of record ${head.seq}`,
      );
    }
    if (this.#loss !== undefined) return this.#loss;
    return {
      ok: true,
      records: this.records,
      files: this.#files,
      first: this.#first?.seq ?? 1,
      ...this.#pruned !== undefined && { prunedAt: this.#pruned.ts },
      head: last?.hash ?? GENESIS,
      signed: this.#signed,
      tornBytes: this.#torn,
      unknown: this.#unknown.list(),
      unknownMore: this.#unknown.more,
    };
  }

  /** Anybody can write that something was pruned. The service signs it before a file goes. */
  #missingBeginning(): AuditDamage | undefined {
    if (this.#first === undefined || this.#first.seq === 1) return undefined;
    const { seq } = this.#first;
    const pruned = this.#pruned;
    const isSigned = this.#keys.size === 0 || (this.#signed?.seq ?? 0) >= (pruned?.seq ?? 0);
    if (pruned !== undefined && isSigned) return undefined;
    this.#at = { file: this.#files === 1 ? AUDIT_FILE : closedName(seq), line: 1 };
    const why = pruned === undefined ? "were not pruned" : "that they were pruned isn't signed";
    return this.#bad("gap", `the records before ${seq} are missing, and ${why}`);
  }

  #checkLink(record: AuditRecord): AuditDamage | undefined {
    const last = this.#last;
    if (last === undefined && record.seq > 1) return undefined;
    const expected = (last?.seq ?? 0) + 1;
    if (record.seq !== expected) {
      const file = this.#at.line === 1 ? ", as if a whole file were gone" : "";
      return record.seq > expected
        ? this.#bad("gap", `record ${expected} is missing, found ${record.seq}${file}`)
        : this.#bad("order", `record ${record.seq} stands where ${expected} was expected`);
    }
    if (record.prev !== (last?.hash ?? GENESIS)) {
      return this.#bad("chain", `record ${record.seq} does not follow the record before it`);
    }
    return undefined;
  }

  /** Holds a record against what was signed about it, in it and elsewhere. */
  async #checkSignatures(record: AuditRecord): Promise<AuditDamage | undefined> {
    if (this.#knownLosses.has(record.seq)) {
      this.#expected.forget({ found: Number(record.data.found ?? 0), ts: record.ts });
    }
    const { checkpoint: last } = this.#expected;
    if (typeof last === "object" && last.seq === record.seq && !mayCheckpoint(last, record)) {
      return this.#bad("checkpoint", "checkpoint.json holds a checkpoint of the log itself");
    }
    const elsewhere = this.#expected.outstanding.get(record.seq);
    if (elsewhere !== undefined && !this.#beginsKnownLoss(record.seq)) {
      if (elsewhere.hash !== record.hash) {
        return this.#bad(
          elsewhere.from === "the mirror" ? "mirror" : "cut",
          `record ${record.seq} is not the one that a checkpoint in ${elsewhere.from} is about`,
        );
      }
      this.#expected.outstanding.delete(record.seq);
      this.#noteSigned({ ...elsewhere, seq: record.seq });
    }
    if (record.kind !== "log.checkpoint" || this.#keys.size === 0) return undefined;
    const checkpoint = checkpointOf(record);
    if (
      checkpoint === undefined || checkpoint.seq !== record.seq - 1 ||
      checkpoint.hash !== record.prev
    ) return this.#bad("checkpoint", "the checkpoint is not about the record before it");
    const key = this.#keys.get(checkpoint.key);
    if (key === undefined) {
      return this.#bad("checkpoint", `the checkpoint was signed by another key: ${checkpoint.key}`);
    }
    if (!await isGenuine(checkpoint, key, "log")) {
      return this.#bad("checkpoint", "the checkpoint was not signed by the audit's key");
    }
    this.#noteSigned(checkpoint);
    return undefined;
  }

  #checkHead({ seq, hash }: AuditRecord): AuditDamage | undefined {
    const { head } = this.#expected;
    if (typeof head !== "object" || head.seq !== seq || head.hash === hash) return undefined;
    return this.#bad("cut", `record ${seq} is not the one that the key folder knows of`);
  }

  /** Between the end that was found and the word about it stand at most two records. */
  #beginsKnownLoss(seq: number): boolean {
    return [seq, seq + 1, seq + 2].some((each) => this.#knownLosses.has(each));
  }

  #noteSigned({ seq, ts, key }: NonNullable<AuditWhole["signed"]>): void {
    if (seq > (this.#signed?.seq ?? 0)) this.#signed = { seq, ts, key };
  }

  #noteLosses({ kind, seq, ts, data }: AuditRecord): void {
    const { seq: first, prev } = this.#first ?? {};
    if (
      kind === "log.pruned" && first !== undefined && data.last === first - 1 && data.head === prev
    ) {
      this.#pruned ??= { seq, ts };
    }
    if (kind !== "log.gone" && kind !== "log.cut" || this.#knownLosses.has(seq)) return;
    this.#loss ??= this.#bad(
      "loss",
      kind === "log.gone"
        ? `record ${seq} says that an earlier audit is gone`
        : `record ${seq} says that records before it are gone or changed ` +
          `(known up to ${data.signed}, found up to ${data.found})`,
    );
  }

  #bad(problem: AuditProblem, message: string): AuditDamage {
    const { file, line } = this.#at;
    return { ok: false, file, line, problem, message: `${file} line ${line}: ${message}` };
  }
}
