/**
 * What is known about an audit log outside of it: the file of the last checkpoint, the mirror, and the
 * head in the key folder.
 *
 * @module
 */

import { type Checkpoint, isGenuine, parseCheckpoint, readCheckpoint } from "./checkpoint.ts";
import { assertFile, exists } from "./files.ts";
import { type Head, readHead } from "./head_file.ts";
import { readLines } from "./lines.ts";
import type { AuditVerifier } from "./signing_key.ts";

/** A record that has to be there. */
export interface ExpectedRecord {
  hash: string;
  ts: number;
  key: string;
  /** Where it is said, for a message. */
  from: "checkpoint.json" | "the mirror";
}

/** What an audit has to hold. */
export interface Expected {
  hasKey: boolean;
  /** There is no file where the mirror should be. */
  mirrorIsMissing: boolean;
  checkpoint: Checkpoint | "damaged" | "forged" | undefined;
  /** Of the key folder; undefined where that was not given, or is older than its first head. */
  head: Head | "damaged" | "missing" | undefined;
  /** By number; who finds one as it should be takes it out. */
  outstanding: Map<number, ExpectedRecord>;
  /** Drops what was said, before a known loss, about records behind the last that was found then. */
  forget(loss: { found: number; ts: number }): void;
}

/** Checkpoints of a mirror that are held; of more the latest. */
const MAX_EXPECTED = 500_000;

/** Reads what is said. Throws when a file cannot be read. */
export async function readExpected(
  { dir, keysDir, keys = [], mirror = "" }: {
    dir: string;
    keysDir?: string;
    keys?: readonly AuditVerifier[];
    mirror?: string;
  },
): Promise<Expected> {
  const byKey = new Map(keys.map((key) => [key.fingerprint, key]));
  const outstanding = new Map<number, ExpectedRecord>();
  const expect = ({ seq, hash, ts, key }: Checkpoint, from: ExpectedRecord["from"]) => {
    // The first word about a record counts: another one later is what a rewritten record looks like.
    if (seq === 0 || outstanding.has(seq)) return;
    outstanding.set(seq, { hash, ts, key, from });
    if (outstanding.size > MAX_EXPECTED) outstanding.delete(outstanding.keys().next().value!);
  };
  const mirrorIsMissing = mirror !== "" && !await exists(mirror);
  if (byKey.size > 0 && mirror !== "" && !mirrorIsMissing) {
    for await (const checkpoint of readMirror(mirror)) {
      const key = byKey.get(checkpoint.key);
      // Others may have a line here too: another home, or who wants to confuse.
      if (key !== undefined && await isGenuine(checkpoint, key, "file")) {
        expect(checkpoint, "the mirror");
      }
    }
  }
  let checkpoint: Expected["checkpoint"] = await readCheckpoint(dir);
  if (byKey.size > 0 && typeof checkpoint === "object") {
    const key = byKey.get(checkpoint.key);
    if (key === undefined || !await isGenuine(checkpoint, key, "file")) checkpoint = "forged";
    else expect(checkpoint, "checkpoint.json");
  }
  // Read after the checkpoint: it is made before the first one of version 2.
  let head: Expected["head"] = keysDir === undefined ? undefined : await readHead(keysDir);
  const isNewer = typeof checkpoint === "object" && checkpoint.v > 1;
  if (keysDir !== undefined && head === undefined && isNewer) head = "missing";
  return {
    hasKey: byKey.size > 0,
    mirrorIsMissing,
    checkpoint,
    head,
    outstanding,
    forget(loss) {
      for (const [seq, { ts }] of outstanding) {
        if (seq > loss.found && ts <= loss.ts) outstanding.delete(seq);
      }
    },
  };
}

async function* readMirror(path: string): AsyncGenerator<Checkpoint> {
  await assertFile(path);
  using file = await Deno.open(path, { read: true });
  for await (const { text, ended } of readLines(file)) {
    const checkpoint = ended && text !== undefined ? parseCheckpoint(text) : undefined;
    if (checkpoint !== undefined) yield checkpoint;
  }
}
