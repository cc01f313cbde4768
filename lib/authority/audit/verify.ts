/**
 * Checks a whole audit file: finds an edited, missing, repeated or reordered record, and says which
 * actions have no known end. Streams, so the file may be of any size.
 *
 * @module
 */

import { type AuditRecord, GENESIS, MAX_LINE_BYTES, parseRecord } from "./record.ts";

/** An action that was started and never ended on record. */
export interface UnknownAction {
  seq: number;
  ts: number;
  data: Record<string, unknown>;
  /** A later process wrote here, so this one cannot be running any more. */
  crashed: boolean;
}

/** What was found. */
export type AuditFinding =
  | {
    ok: true;
    records: number;
    /** Hash of the last record. */
    head: string;
    /** Unfinished bytes at the end that the next start sets aside. */
    tornBytes: number;
    unknown: UnknownAction[];
  }
  | {
    ok: false;
    /** Line of the file, from 1. */
    line: number;
    problem: "unreadable" | "edited" | "gap" | "order" | "chain" | "too_long";
    message: string;
  };

/** Reads the file and checks each record and each link. Throws when it cannot be read. */
export async function verifyAudit(path: string): Promise<AuditFinding> {
  using file = await Deno.open(path, { read: true });
  const started = new Map<number, UnknownAction>();
  let last: AuditRecord | undefined;
  let number = 0;
  const bad = (problem: Extract<AuditFinding, { ok: false }>["problem"], message: string) =>
    ({ ok: false, line: number, problem, message: `line ${number}: ${message}` }) as const;

  for await (const line of readLines(file)) {
    number++;
    if (line.text === undefined) {
      return bad("too_long", `longer than a record can be (${MAX_LINE_BYTES} bytes)`);
    }
    if (!line.ended) {
      return finding(number - 1, last, started, line.bytes);
    }
    const record = parseRecord(line.text);
    if ("damage" in record) {
      return record.damage === "edited"
        ? bad("edited", "the record was changed after it was written")
        : bad("unreadable", "this is no record");
    }
    const expected = (last?.seq ?? 0) + 1;
    if (record.seq !== expected) {
      return record.seq > expected
        ? bad("gap", `record ${expected} is missing, found ${record.seq}`)
        : bad("order", `record ${record.seq} stands where ${expected} was expected`);
    }
    if (record.prev !== (last?.hash ?? GENESIS)) {
      return bad("chain", `record ${record.seq} does not follow the record before it`);
    }
    note(record, started);
    last = record;
  }
  return finding(number, last, started, 0);
}

function note(record: AuditRecord, started: Map<number, UnknownAction>): void {
  const { seq, ts, data } = record;
  switch (record.kind) {
    case "log.open":
      for (const action of started.values()) action.crashed = true;
      break;
    case "action.start":
      started.set(seq, { seq, ts, data, crashed: false });
      break;
    case "action.end":
      started.delete(data.start as number);
      break;
  }
}

function finding(
  records: number,
  last: AuditRecord | undefined,
  started: Map<number, UnknownAction>,
  tornBytes: number,
): AuditFinding {
  return {
    ok: true,
    records,
    head: last?.hash ?? GENESIS,
    tornBytes,
    unknown: [...started.values()],
  };
}

interface Line {
  /** Undefined: too long. */
  text?: string;
  /** Whether a line end follows. */
  ended: boolean;
  bytes: number;
}

async function* readLines(file: Deno.FsFile): AsyncGenerator<Line> {
  const decoder = new TextDecoder();
  let rest = new Uint8Array();
  for await (const chunk of file.readable) {
    const bytes = new Uint8Array(rest.length + chunk.length);
    bytes.set(rest);
    bytes.set(chunk, rest.length);
    let at = 0;
    for (let end = bytes.indexOf(0x0a); end !== -1; end = bytes.indexOf(0x0a, at)) {
      const isLong = end - at > MAX_LINE_BYTES;
      const text = isLong ? undefined : decoder.decode(bytes.subarray(at, end));
      yield { text, ended: true, bytes: end - at };
      at = end + 1;
    }
    rest = bytes.slice(at);
    if (rest.length > MAX_LINE_BYTES) {
      yield { ended: false, bytes: rest.length };
      return;
    }
  }
  if (rest.length > 0) yield { text: decoder.decode(rest), ended: false, bytes: rest.length };
}
