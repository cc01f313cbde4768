/**
 * `service audit list` and `tail`: records for people, or one a line as JSON, as the route
 * has them.
 *
 * @module
 */

import type { ExitCode } from "../command.ts";
import { EXIT } from "../command.ts";
import { jsonLine, type Output } from "../output.ts";
import { printTable } from "../table.ts";
import { recordToWire } from "../../lib/audit/record.ts";
import type { RecordFilter } from "../../lib/audit/record_filter.ts";
import { type FoundRecord, readRecords } from "../../lib/audit/read_records.ts";
import { RECORD_COLUMNS, recordRow } from "./record_row.ts";

/** What is shown. */
export interface ListOptions {
  dir: string;
  filter: RecordFilter;
  /** Last records that are shown. */
  limit: number;
  json: boolean;
  out: Output;
  /** Waits for new records; without it the command ends with the last one. */
  more?: () => Promise<boolean>;
}

/** Shows the last records, oldest first, and then those that come. Throws `NotFound` when there are none. */
export async function listRecords(options: ListOptions): Promise<ExitCode> {
  const { dir, filter, limit, json, out, more } = options;
  const last: FoundRecord[] = [];
  let left = 0;
  let isFollowing = false;
  const damaged: string[] = [];
  let damages = 0;
  const showLast = async () => {
    if (last.length === 0 && more === undefined) out.note("No matching records");
    else await showTable(last.splice(0), json, out);
    if (left > 0 && !json) out.note(`${left} earlier ones are left out; see more with --limit`);
  };
  const records = readRecords({
    dir,
    filter,
    onDamage(file, line) {
      damages++;
      if (damaged.length < 5) damaged.push(`${file} line ${line}`);
    },
    more: more && (async () => {
      if (!isFollowing) await showLast();
      isFollowing = true;
      return await more();
    }),
  });
  for await (const found of records) {
    if (isFollowing) await showOne(found, json, out);
    else {
      last.push(found);
      if (last.length > limit) {
        last.shift();
        left++;
      }
    }
  }
  if (!isFollowing) await showLast();
  if (damages > 0) {
    const more = damages > damaged.length ? ` and ${damages - damaged.length} more` : "";
    out.note({
      text: `Cannot read ${damaged.join(", ")}${more}; see service audit verify`,
      style: "yellow",
    });
  }
  return EXIT.done;
}

async function showTable(found: readonly FoundRecord[], json: boolean, out: Output): Promise<void> {
  if (json) {
    for (const each of found) await showOne(each, json, out);
  } else if (found.length > 0) printTable(out, RECORD_COLUMNS, found.map(recordRow));
}

/** A single record, as it comes; its columns cannot know how wide later ones will be. */
async function showOne(found: FoundRecord, json: boolean, out: Output): Promise<void> {
  if (json) return await out.stream(jsonLine(recordToWire(found.record)) + "\n");
  const cells = recordRow(found).map((cell) => cell.replace(/\s+/g, " ").trim());
  await out.stream(cells.filter((cell) => cell !== "").join("  ") + "\n");
}
