/** `service install`: has the service run at login or boot. */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Output } from "../output.ts";
import type { Definition } from "../service_manager/definition.ts";
import type { Defined } from "../service_manager/define_service.ts";
import type { Scope, ServiceManager } from "../service_manager/service_manager.ts";

/** How long the first start may take. */
const START_S = 120;

/** Of `install` and `uninstall`. */
export const SYSTEM = {
  name: "system",
  summary: "For the whole machine, as a user of its own; needs root and systemd",
};

/** The one of this machine. */
export async function findManager(scope: Scope, userHome: string): Promise<ServiceManager> {
  const { serviceManager } = await import("../service_manager/service_manager.ts");
  const env = (name: string) => Deno.env.get(name);
  return serviceManager({ scope, os: Deno.build.os, uid: Deno.uid(), env, userHome });
}

const command: Command = {
  description:
    "Has the service run at login: as a systemd unit of your user, or as a launchd agent on macOS. " +
    "Starts it, and again when it fails. --system has it run at boot, as the user service with the " +
    "home /var/lib/service. The unit allows no more than the service needs.",
  examples: ["service install", "service install --dry-run", "sudo service install --system"],
  options: [SYSTEM, {
    name: "dry-run",
    summary: "Print the file and the commands, change nothing",
  }],
  async run({ options, globals, out }) {
    const scope = options["system"] === true ? "system" : "user";
    const [{ homePaths }, { findInstallation }, { defineService }] = await Promise.all([
      import("../home_paths.ts"),
      import("../installation/installation.ts"),
      import("../service_manager/define_service.ts"),
    ]);
    const paths = homePaths(globals);
    const manager = await findManager(scope, paths.userHome);
    const env = (name: string) => Deno.env.get(name);
    const installation = findInstallation();
    const defined = await defineService({ scope, installation, env, paths });
    const makeUser = scope === "system" ? await userToMake() : [];
    if (options["dry-run"] === true) return printPlan(manager, defined, makeUser, globals, out);
    if (scope === "system" && Deno.uid() !== 0) {
      throw new ServiceError("usage", "--system needs root. Run it with sudo");
    }
    return await install(manager, { ...defined, scope }, makeUser, globals, out);
  },
};

/** The command that makes the user of the system's service, where there is none. */
async function userToMake(): Promise<(readonly string[])[]> {
  const [{ runCommand }, { MAKE_SYSTEM_USER }, { SYSTEM_STATE_DIR, SYSTEM_USER }] = await Promise
    .all([
      import("../service_manager/install_service.ts"),
      import("../service_manager/service_manager.ts"),
      import("../service_manager/systemd_unit.ts"),
    ]);
  const { success, stdout } = await runCommand(["getent", "passwd", SYSTEM_USER]);
  if (!success) return [MAKE_SYSTEM_USER];
  const home = stdout.trim().split(":")[5];
  if (home === SYSTEM_STATE_DIR) return [];
  throw new ServiceError(
    "conflict",
    `There is another user "${SYSTEM_USER}", whose home is ${home}: expected ${SYSTEM_STATE_DIR}`,
  );
}

function printPlan(
  manager: ServiceManager,
  { definition }: Defined,
  makeUser: readonly (readonly string[])[],
  { json }: Globals,
  out: Output,
): ExitCode {
  const { file, start } = manager;
  const text = manager.define(definition);
  const commands = [...makeUser, ...start];
  if (json) out.json({ file, text, commands, dryRun: true });
  else {
    out.note(`Would write ${file}:`);
    out.write(text);
    out.note("Would run:");
    for (const each of commands) out.note({ text: `  ${each.join(" ")}`, isData: true });
  }
  return EXIT.done;
}

async function install(
  manager: ServiceManager,
  { scope, definition, paths, missing }: Defined & { scope: Scope },
  makeUser: readonly (readonly string[])[],
  globals: Globals,
  out: Output,
): Promise<ExitCode> {
  const [service, { printRunning, untilRunning }, { findOwner }, { keeperOf }] = await Promise.all([
    import("../service_manager/install_service.ts"),
    import("../lifecycle/until_running.ts"),
    import("../lifecycle/owner.ts"),
    import("../lifecycle/keeper.ts"),
  ]);
  const { runCommand: run } = service;
  const text = manager.define(definition);
  const before = await service.readDefinition(manager);
  const owner = await findOwner(paths);
  if (owner.state === "running" || owner.state === "command") {
    const keeper = owner.state === "running" && await keeperOf(owner.pid, owner.record);
    owner.client.close();
    const isManaged = keeper && (keeper.kind === "systemd" || keeper.kind === "launchd");
    if (!isManaged || before === undefined) {
      throw new ServiceError(
        "conflict",
        `A service (pid ${owner.pid}) runs in ${paths.home} already. Stop it first with: service stop`,
      );
    }
    if (before === text) {
      if (globals.json) out.json({ file: manager.file, installed: true, changed: false });
      else out.note(`Installed and running already: ${manager.file}`);
      return EXIT.done;
    }
  }
  await service.checkManager(manager, run);
  await service.runAll(makeUser, run);
  // The system's manager makes that of its service.
  if (scope === "user") await Deno.mkdir(paths.home, { recursive: true, mode: 0o700 });
  await service.startInstalled(manager, text, run);
  out.note(`Installed ${manager.file}`);
  for (const name of missing) {
    out.note(`${name} is set in this shell only. ${whereToSet(manager)}`);
  }
  const running = await untilRunning(paths, {
    timeoutS: START_S,
    check: () => checkAlive(manager, run),
  });
  await printRunning(running, paths, globals, out, await nextStep(manager, definition));
  return EXIT.done;
}

async function nextStep({ outlivesLogin }: ServiceManager, { env }: Definition): Promise<string> {
  const { runCommand } = await import("../service_manager/install_service.ts");
  if (env.SERVICE_COMMAND !== undefined) return `Its commands: ${env.SERVICE_COMMAND} status`;
  const isBound = outlivesLogin !== undefined &&
    (await runCommand(outlivesLogin)).stdout.trim() === "no";
  return isBound
    ? "It runs while you are logged in. To have it run always: loginctl enable-linger"
    : "Undo this with: service uninstall";
}

function whereToSet({ variables }: ServiceManager): string {
  return variables === undefined
    ? "Store keys with: service onboard"
    : `Store keys with service onboard, or set it in ${variables}`;
}

/** Throws `conflict` for a service that ended right after its start. */
async function checkAlive(
  { state, log }: ServiceManager,
  run: (command: readonly string[]) => Promise<{ stdout: string }>,
): Promise<void> {
  if (state === undefined) return;
  const { stdout } = await run(state);
  if (!["failed", "auto-restart"].includes(stdout.trim())) return;
  throw new ServiceError("conflict", `The service doesn't start. See why with: ${log}`);
}

export default command;
