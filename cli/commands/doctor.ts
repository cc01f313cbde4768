/**
 * `service doctor`: is everything well, and what to do where it is not.
 *
 * @module
 */

import { type Command, EXIT, type ExitCode, type Globals } from "../command.ts";
import type { CheckResult } from "../doctor/check.ts";
import type { DoctorDeps } from "../doctor/doctor_checks.ts";
import type { Output, Style } from "../output.ts";
import { wrapText } from "../wrap_text.ts";

const STYLES: Readonly<Record<CheckResult["status"], Style>> = {
  ok: "green",
  warn: "yellow",
  fail: "red",
  skip: "dim",
};

/** Columns below which a detail stands below its name. */
const NARROW = 60;

/** Prints what was fixed and what was found; fails when something is broken. */
export function printDiagnosis(
  out: Output,
  results: readonly CheckResult[],
  json: boolean,
  fixed?: readonly string[],
): ExitCode {
  const failed = results.filter(({ status }) => status === "fail").length;
  if (json) {
    out.json({ ok: failed === 0, checks: results, fixed });
    return failed === 0 ? EXIT.done : EXIT.failed;
  }
  for (const line of fixed ?? []) out.line(line);
  if (fixed?.length === 0) out.line("Nothing that --fix may change needs a fix");
  if (fixed !== undefined) out.line();
  const columns = out.columns ?? Infinity;
  const nameWidth = Math.max(...results.map(({ name }) => name.length));
  const isNarrow = columns < NARROW;
  const indent = isNarrow ? 2 : 4 + 2 + nameWidth + 2;
  // As it is typed here, before a command can be broken between lines.
  const wrapped = (text: string) =>
    out.hinted(text).split("\n").flatMap((line) =>
      columns === Infinity ? [line] : wrapText(line, Math.max(20, columns - indent))
    );
  for (const { name, status, detail, fix } of results) {
    const [first, ...rest] = isNarrow ? ["", ...wrapped(detail)] : wrapped(detail);
    const tail = isNarrow ? `  ${name}` : `  ${name.padEnd(nameWidth)}  ${first}`;
    out.line({ text: status.padEnd(4), style: STYLES[status] }, tail);
    for (const line of rest) out.line(" ".repeat(indent) + line);
    for (const line of fix === undefined ? [] : wrapped(fix)) {
      out.line({ text: " ".repeat(indent) + line, style: "dim" });
    }
  }
  const warned = results.filter(({ status }) => status === "warn").length;
  if (failed + warned > 0) {
    const more = results.some(({ status, repair }) => status !== "ok" && repair !== undefined)
      ? ". Fix what can be fixed with: service doctor --fix"
      : "";
    out.note(`${failed} failed, ${warned} ${warned === 1 ? "warning" : "warnings"}${more}`);
  }
  return failed === 0 ? EXIT.done : EXIT.failed;
}

/** What the checks look at in this process. */
async function processDeps(globals: Globals, offline = false): Promise<DoctorDeps> {
  const { ownOptions } = await import("../open_service.ts");
  const own = ownOptions(globals);
  const { paths } = own;
  return {
    version: own.version,
    deno: { version: Deno.version.deno, standalone: Deno.build.standalone, os: Deno.build.os },
    paths,
    env: own.env,
    loadConfig: async () => {
      const { loadConfig } = await import("../../lib/settings/load.ts");
      return await loadConfig({ ...own, keepLastGood: false, forStart: { gateway: true } });
    },
    connect: async () => {
      const { connectLocal, endpointAt } = await import("../../lib/local/endpoint.ts");
      return await connectLocal(endpointAt(paths.socket));
    },
    confinement: tryConfinement,
    verifyAudit: async () => {
      const [{ verifyAudit }, { findTrustedKeys }] = await Promise.all([
        import("../../lib/audit/verify.ts"),
        import("../../lib/audit/trusted_keys.ts"),
      ]);
      const { auditDir: dir, keysDir } = paths;
      return await verifyAudit({
        dir,
        keysDir,
        keys: (await findTrustedKeys({ dir, keysDir })).keys,
      });
    },
    channels: async () => {
      const [{ CHANNELS }, { openRegistry }] = await Promise.all([
        import("../../channels/mod.ts"),
        import("../../lib/registry/open_registry.ts"),
      ]);
      return await openRegistry(CHANNELS);
    },
    async atLogin() {
      const { installedDefinition, isStale } = await import(
        "../service_manager/installed_definition.ts"
      );
      const installed = await installedDefinition(paths);
      return installed && { file: installed.file, isStale: await isStale(installed, paths) };
    },
    fetch,
    offline,
    listen: (options) => Deno.listen(options),
    owner: async (port) => await (await import("../doctor/port_owner.ts")).portOwner(port),
    now: Date.now,
  };
}

/** Starts a child in a sandbox; nothing of it is left. */
async function tryConfinement(workspace: string): ReturnType<DoctorDeps["confinement"]> {
  const { createExecutor } = await import("../../lib/executor/executor.ts");
  const cacheDir = await Deno.makeTempDir();
  const silent = () => {};
  const log = { debug: silent, info: silent, warning: silent, error: silent };
  const executor = createExecutor({ cacheDir, workspace, log });
  try {
    const confinement = await executor.confinement();
    return Deno.uid() === 0
      ? { ...confinement, childUser: await executor.childUser() }
      : confinement;
  } finally {
    await executor.shutdown();
    await Deno.remove(cacheDir, { recursive: true });
  }
}

const doctor: Command = {
  description:
    "Checks everything that a start needs: the configuration, rights of the home's files, disk " +
    "space, clock, locks, database, audit log, secrets, sandbox, channels, ports and the model. " +
    "Sends the model one short message; --offline doesn't. --fix corrects rights, creates missing " +
    "folders and removes leftovers, and deletes no data. Exits with 1 when something is broken.",
  examples: [
    "service doctor",
    "service doctor --fix",
    "service doctor --offline --json",
    "service doctor --sandbox",
  ],
  options: [
    { name: "fix", summary: "Fix what can be fixed without deleting data" },
    { name: "offline", summary: "Don't send the model a message" },
    {
      name: "sandbox",
      summary: "Try forbidden operations in the command sandbox, and print the results",
    },
  ],
  async run({ options, globals, out }) {
    if (options.sandbox === true) {
      const [{ trySandbox }, { printSandbox }] = await Promise.all([
        import("../doctor/try_sandbox.ts"),
        import("../doctor/print_sandbox.ts"),
      ]);
      const { loadConfig } = await processDeps(globals);
      const { config } = await loadConfig();
      return printSandbox(out, await trySandbox(config), globals.json);
    }
    const [{ doctorChecks }, { repairAll, runChecks }, { withoutSecrets }] = await Promise.all([
      import("../doctor/doctor_checks.ts"),
      import("../doctor/check.ts"),
      import("../secrets/without_secrets.ts"),
    ]);
    const offline = options["offline"] === true;
    const deps = await processDeps(globals, offline);
    const fixed = options["fix"] === true ? await repairAll(await doctorChecks(deps)) : undefined;
    if (!offline && !globals.json) {
      out.note("Checking. A configured model gets one short message; --offline sends none");
    }
    const results = await runChecks(await doctorChecks(deps));
    const shown = withoutSecrets(results.map(({ repair: _, ...plain }) => plain), deps);
    const repairable = results.map(({ repair }, at) => ({ ...shown[at]!, repair }));
    return printDiagnosis(out, repairable, globals.json, fixed);
  },
};

export default doctor;
