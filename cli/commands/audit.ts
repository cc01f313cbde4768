/**
 * `service audit`: the audit log. Reads the files, so no gateway has to run, and writes nothing.
 *
 * @module
 */

import { z } from "zod";
import { recordFilter } from "../../lib/audit/record_filter.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { DEFAULT_PAGE, whole } from "../../lib/operations/fields.ts";
import { AUDIT } from "../../lib/operations/audit.ts";
import { EXPORT_FORMATS, exportRecords } from "../audit/export.ts";
import { watchFolder } from "../audit/follow.ts";
import type { JudgeOptions } from "../../lib/audit/judge.ts";
import { listRecords } from "../audit/list.ts";
import { verifyRecord } from "../audit/verify.ts";
import { type Command, EXIT, type ExitCode, type Globals, type Invocation } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import { fullKey } from "../operator/full_key.ts";
import { operationSubcommand, typedInput } from "../operator/operation_subcommand.ts";
import type { Output } from "../output.ts";
import { parseTime } from "../typed_values.ts";

/** What the command reaches outside of itself. */
export interface AuditDeps {
  /** Where the records and the key are. */
  paths(globals: Globals): { auditDir: string; keysDir: string };
  /** `audit.mirror`. Throws when the configuration cannot be loaded. */
  mirror(globals: Globals): Promise<string>;
  now(): number;
  watch(dir: string): { changed(): Promise<boolean> } & Disposable;
}

const DEFAULT_TAIL = 10;
const MAX_LIMIT = 100_000;

const { session, capability, kind, tool } = AUDIT["audit.list"].input.shape;

const typedAs = (placeholder: string, description: string) => ({ placeholder, description });

/** Which records, as it is typed. */
const FILTERS = {
  since: z.string().optional()
    .meta(typedAs("TIME", "Only records since then: 2h, or 2030-01-31T12:00Z")),
  until: z.string().optional().meta(typedAs("TIME", "Only records until then")),
  session,
  capability,
  kind,
  tool,
};

const JUDGED_BY = {
  public_key: z.array(z.string()).optional()
    .meta(typedAs("PATH", "Trust signatures by this key (PEM)")),
  mirror: z.string().optional()
    .meta(typedAs("PATH", "Compare with these checkpoints (audit.mirror)")),
  known_loss: z.array(whole(1)).optional()
    .meta(typedAs("SEQ", "Number of a record that reports a loss you know of")),
};

const limit = (most: number | undefined, unless: string | number) =>
  whole(1, most).optional().describe(`Records to print (${unless})`);

/** What is typed for each subcommand; another has no use for the rest. */
const COMMANDS = {
  list: {
    ...AUDIT["audit.list"],
    confidential: false,
    input: z.object({ limit: limit(MAX_LIMIT, DEFAULT_PAGE), ...FILTERS }),
  },
  tail: {
    command: "audit tail",
    summary: "Print the last few records, with --follow also new ones",
    input: z.object({
      follow: z.boolean().optional()
        .meta({ alias: "f", description: "Keep printing new records" }),
      limit: limit(MAX_LIMIT, DEFAULT_TAIL),
      ...FILTERS,
    }),
  },
  verify: { ...AUDIT["audit.verify"], input: z.object(JUDGED_BY) },
  export: {
    command: "audit export",
    summary: "Print the verdict, the public key and the records",
    input: z.object({
      format: z.enum(EXPORT_FORMATS, EXPORT_FORMATS.join(" or ")).optional()
        .describe("jsonl or csv (jsonl)"),
      limit: limit(undefined, "all"),
      ...FILTERS,
      ...JUDGED_BY,
    }),
  },
};

/** What was typed, of whichever subcommand. */
type Typed = Partial<
  z.infer<typeof COMMANDS["tail"]["input"]> & z.infer<typeof COMMANDS["export"]["input"]>
>;

/** Runs the command. */
export async function runAudit(invocation: Invocation, deps: AuditDeps): Promise<ExitCode> {
  const { options, globals, out } = invocation;
  const subcommand = (invocation.subcommand ?? "list") as keyof typeof COMMANDS;
  const copy = typeof options.dir === "string" ? options.dir : undefined;
  const paths = copy === undefined ? deps.paths(globals) : undefined;
  const dir = copy ?? paths!.auditDir;
  const { json } = globals;
  const typed: Typed = typedInput<z.ZodObject>(COMMANDS[subcommand], invocation);
  const { limit, format = "jsonl", public_key = [], known_loss = [], session, ...names } = typed;
  const filter = recordFilter({
    ...names,
    session: session && fullKey(session),
    since: parseTime("since", typed.since, deps.now()),
    until: parseTime("until", typed.until, deps.now()),
  });
  const judge = async (): Promise<JudgeOptions> => ({
    dir,
    keysDir: paths?.keysDir,
    publicKeys: public_key,
    mirror: typed.mirror ?? await mirrorOf(invocation, deps, copy !== undefined),
    knownLosses: new Set(known_loss),
  });
  try {
    switch (subcommand) {
      case "verify":
        return await verifyRecord(await judge(), { json, out });
      case "export":
        return await exportRecords({ judge: await judge(), format, filter, limit, out });
      case "tail":
        return await tail();
      default:
        return await listRecords({ dir, filter, limit: limit ?? DEFAULT_PAGE, json, out });
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
    if (!typed.follow) return await listRecords(show);
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
  { globals, out }: Invocation,
  deps: AuditDeps,
  isCopy: boolean,
): Promise<string> {
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
  subcommands: Object.values(COMMANDS).map((each) => operationSubcommand(each)),
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
