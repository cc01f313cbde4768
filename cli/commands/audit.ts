/**
 * `service audit`: the audit log. Reads the files, so no gateway has to run, and writes nothing.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { EXPORT_FORMATS, exportRecords } from "../audit/export.ts";
import { parseFilters, parseNumber } from "../audit/filters.ts";
import { watchFolder } from "../audit/follow.ts";
import type { JudgeOptions } from "../../lib/audit/judge.ts";
import { listRecords } from "../audit/list.ts";
import { verifyRecord } from "../audit/verify.ts";
import {
  type Command,
  EXIT,
  type ExitCode,
  type Globals,
  type Invocation,
  type OptionSpec,
} from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";

/** What the command reaches outside of itself. */
export interface AuditDeps {
  /** Where the records and the key are. */
  paths(globals: Globals): { auditDir: string; keysDir: string };
  /** `audit.mirror`. Throws when the configuration cannot be loaded. */
  mirror(globals: Globals): Promise<string>;
  now(): number;
  watch(dir: string): { changed(): Promise<boolean> } & Disposable;
}

const DEFAULT_LIST = 50;
const DEFAULT_TAIL = 10;
const MAX_LIMIT = 100_000;

/** Runs the command. */
export async function runAudit(invocation: Invocation, deps: AuditDeps): Promise<ExitCode> {
  const { subcommand = "list", options, globals, out } = invocation;
  const copy = typeof options.dir === "string" ? options.dir : undefined;
  const paths = copy === undefined ? deps.paths(globals) : undefined;
  const dir = copy ?? paths!.auditDir;
  const filter = parseFilters(options, deps.now());
  const { json } = globals;
  const largest = subcommand === "export" ? Number.MAX_SAFE_INTEGER : MAX_LIMIT;
  const limit = parseNumber("limit", options.limit, 1, largest);

  const judge = async (): Promise<JudgeOptions> => ({
    dir,
    keysDir: paths?.keysDir,
    publicKeys: (options["public-key"] ?? []) as string[],
    mirror: await mirrorOf(invocation, deps, copy !== undefined),
    knownLosses: new Set(
      ((options["known-loss"] ?? []) as string[]).map((value) =>
        parseNumber("known-loss", value, 1, Number.MAX_SAFE_INTEGER)!
      ),
    ),
  });
  const format = formatOf(options);
  try {
    switch (subcommand) {
      case "verify":
        return await verifyRecord(await judge(), { json, out });
      case "export":
        return await exportRecords({ judge: await judge(), format, filter, limit, out });
      case "tail":
        return await tail();
      default:
        return await listRecords({ dir, filter, limit: limit ?? DEFAULT_LIST, json, out });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    if (copy !== undefined) {
      throw new ServiceError("not_found", `No audit log in "${dir}"`, { param: "dir" });
    }
    if (json && subcommand === "verify") out.json({ ok: true, records: 0 });
    else out.note("No audit records yet");
    return EXIT.done;
  }

  async function tail(): Promise<ExitCode> {
    const show = { dir, filter, limit: limit ?? DEFAULT_TAIL, json, out };
    if (options.follow !== true) return await listRecords(show);
    // From before the first look, so that nothing is missed between.
    using watcher = watchIfAny(dir, deps);
    return await listRecords({ ...show, more: watcher && (() => watcher.changed()) });
  }
}

function watchIfAny(dir: string, deps: AuditDeps) {
  try {
    return deps.watch(dir);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** The mirror to hold the record against. A configuration that does not load must not hide a fault. */
async function mirrorOf(
  { options, globals, out }: Invocation,
  deps: AuditDeps,
  isCopy: boolean,
): Promise<string> {
  if (typeof options.mirror === "string") return options.mirror;
  if (isCopy) return "";
  try {
    return await deps.mirror(globals);
  } catch (error) {
    noteUnknownMirror(out, error);
    return "";
  }
}

function noteUnknownMirror(out: Output, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  out.note({
    text: `The mirror is not looked at, for the configuration cannot be loaded: ${reason}`,
    style: "yellow",
  });
}

function formatOf(options: Invocation["options"]): typeof EXPORT_FORMATS[number] {
  const given = options.format ?? "jsonl";
  const format = EXPORT_FORMATS.find((each) => each === given);
  if (format !== undefined) return format;
  throw new ServiceError(
    "usage",
    `Option --format is ${JSON.stringify(given)}; expected ${EXPORT_FORMATS.join(" or ")}`,
    { param: "format" },
  );
}

const FILTERS: readonly OptionSpec[] = [
  { name: "since", value: "TIME", summary: "Only records since then: 2h, or 2030-01-31T12:00Z" },
  { name: "until", value: "TIME", summary: "Only records until then" },
  { name: "session", value: "KEY", summary: "Only records of this session" },
  { name: "capability", value: "NAME", summary: "Only this capability, such as fs.write" },
  { name: "kind", value: "KIND", summary: "Only this kind, such as approval or action.refused" },
  { name: "tool", value: "NAME", summary: "Only records of this tool" },
];

const JUDGED_BY: readonly OptionSpec[] = [
  {
    name: "public-key",
    value: "PATH",
    repeatable: true,
    summary: "Trust signatures by this key (PEM)",
  },
  { name: "mirror", value: "PATH", summary: "Compare with these checkpoints (audit.mirror)" },
  {
    name: "known-loss",
    value: "SEQ",
    repeatable: true,
    summary: "Number of a record that reports a loss you know of",
  },
];

function limitOption(unless: string | number): OptionSpec {
  return { name: "limit", alias: "n", value: "N", summary: `Records to print (${unless})` };
}

const audit: Command = {
  description:
    "Lists, verifies and exports the audit log: every action, approval and change by an operator. It " +
    "reads the files and needs no running gateway. verify exits with 1 and names the line if a record " +
    "was edited, removed, moved or cut off. To verify a copy of the folder, pass --dir and " +
    "--public-key.",
  examples: [
    "service audit list --since 2h --capability exec",
    "service audit tail --follow --kind approval",
    "service audit verify",
    "service audit export --format csv --since 2030-01-01 > audit.csv",
    "service audit verify --dir ./copy --public-key ./audit.pub",
  ],
  options: [{ name: "dir", value: "PATH", summary: "Folder of a copy (that of this home)" }],
  defaultSubcommand: "list",
  subcommands: [
    {
      name: "list",
      summary: "List the last records",
      options: [limitOption(DEFAULT_LIST), ...FILTERS],
    },
    {
      name: "tail",
      summary: "Print the last few records, with --follow also new ones",
      options: [
        { name: "follow", alias: "f", summary: "Keep printing new records" },
        limitOption(DEFAULT_TAIL),
        ...FILTERS,
      ],
    },
    { name: "verify", summary: "Check every record, link and signature", options: JUDGED_BY },
    {
      name: "export",
      summary: "Print the verdict, the public key and the records",
      options: [
        { name: "format", value: "FORMAT", summary: "jsonl or csv (jsonl)" },
        limitOption("all"),
        ...FILTERS,
        ...JUDGED_BY,
      ],
    },
  ],
  run: (invocation) =>
    runAudit(invocation, {
      paths: homePaths,
      async mirror(globals) {
        const [{ loadConfig }, { ownOptions }] = await Promise.all([
          import("../../lib/settings/load.ts"),
          import("../open_service.ts"),
        ]);
        const { config } = await loadConfig({ ...ownOptions(globals), keepLastGood: false });
        return config.audit.mirror;
      },
      now: Date.now,
      watch: watchFolder,
    }),
};

export default audit;
