/**
 * `service audit`: the record of every action. Reads the files, so no service has to run, and writes
 * nothing.
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
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
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
  checkOptions(subcommand, options);

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
      throw new ServiceError("not_found", `There is no audit in "${dir}"`, { param: "dir" });
    }
    if (json && subcommand === "verify") out.json({ ok: true, records: 0 });
    else out.note("There is no record yet");
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

/** Refuses options of other subcommands, which would be taken for obeyed. */
function checkOptions(subcommand: string, options: Invocation["options"]): void {
  const allowed: Readonly<Record<string, readonly string[]>> = {
    list: ["dir", "limit", ...FILTERS],
    tail: ["dir", "limit", "follow", ...FILTERS],
    verify: ["dir", "mirror", "public-key", "known-loss"],
    export: ["dir", "limit", "format", "mirror", "public-key", "known-loss", ...FILTERS],
  };
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || allowed[subcommand]!.includes(name)) continue;
    const takes = allowed[subcommand]!.map((each) => `--${each}`).join(", ");
    throw new ServiceError(
      "usage",
      `audit ${subcommand} has no option --${name}; it has ${takes}`,
      {
        param: name,
      },
    );
  }
}

const FILTERS = ["since", "until", "session", "capability", "kind", "tool"];

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
    `Option --format is ${JSON.stringify(given)}; it takes ${EXPORT_FORMATS.join(" or ")}`,
    { param: "format" },
  );
}

const audit: Command = {
  description:
    "Shows and verifies the record of every action, of approvals and of what operators " +
    "changed. It reads the files and needs no running service. verify ends with 1 when a record " +
    "was edited, dropped, moved or cut off, and names the line. A copy of the folder is verified " +
    "with --dir and --public-key.",
  examples: [
    "service audit list --since 2h --capability exec",
    "service audit tail --follow --kind approval",
    "service audit verify",
    "service audit export --format csv --since 2030-01-01 > audit.csv",
    "service audit verify --dir ./copy --public-key ./audit.pub",
  ],
  subcommands: [
    { name: "list", summary: "The last records (also without a subcommand)" },
    { name: "tail", summary: "The last few, and with --follow those that come" },
    { name: "verify", summary: "Check every record, link and signature" },
    { name: "export", summary: "Verdict, public key and records on standard output" },
  ],
  options: [
    { name: "since", value: "TIME", summary: "Records from then on: 2h ago, or 2030-01-31T12:00Z" },
    { name: "until", value: "TIME", summary: "Records up to then" },
    { name: "session", value: "KEY", summary: "Records of a session" },
    { name: "capability", value: "NAME", summary: "Records of a capability, such as fs.write" },
    {
      name: "kind",
      value: "KIND",
      summary: "Records of a kind, such as approval or action.refused",
    },
    { name: "tool", value: "NAME", summary: "Records of a tool" },
    {
      name: "limit",
      alias: "n",
      value: "N",
      summary: `Records to show (list ${DEFAULT_LIST}, tail ${DEFAULT_TAIL}, export all)`,
    },
    { name: "follow", alias: "f", summary: "tail: go on with records that come" },
    { name: "format", value: "FORMAT", summary: "export: jsonl (default) or csv" },
    { name: "dir", value: "PATH", summary: "Folder of a copy, instead of this home's" },
    {
      name: "public-key",
      value: "PATH",
      repeatable: true,
      summary: "A key whose signatures count, PEM",
    },
    { name: "mirror", value: "PATH", summary: "Checkpoints to hold it against (audit.mirror)" },
    {
      name: "known-loss",
      value: "SEQ",
      repeatable: true,
      summary: "A record that tells of a loss you know of",
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
