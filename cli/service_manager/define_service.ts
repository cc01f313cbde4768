/**
 * What the service is started with at login or boot: gathered from this program, its environment and the
 * configuration of the home.
 *
 * @module
 */

import { dirname } from "@std/path";
import { Projects } from "../../lib/authority/projects.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { isInside } from "../../lib/base/inside.ts";
import { type HomePaths, resolvePaths, serviceLog } from "../../lib/config/paths.ts";
import type { Config } from "../../lib/config/schema.ts";
import { loadConfig } from "../../lib/settings/load.ts";
import { type Installation, programOf } from "../installation/installation.ts";
import type { Definition } from "./definition.ts";
import type { Scope } from "./service_manager.ts";
import { SYSTEM_STATE_DIR, SYSTEM_USER } from "./systemd_unit.ts";

/** Variables that say where things are, and go into the definition. */
const PASSED_ON = ["SERVICE_HOME", "SERVICE_CONFIG", "XDG_CACHE_HOME"];

/** Variables that every program has. */
const EVERYWHERE = ["HOME", "USERPROFILE", "PATH", "XDG_RUNTIME_DIR", "TMPDIR"];

/** What {@linkcode defineService} depends on. */
export interface DefineInputs {
  scope: Scope;
  installation: Installation;
  env: (name: string) => string | undefined;
  /** The home of the user's service. */
  paths: HomePaths;
}

/** A definition, and what the person should know of it. */
export interface Defined {
  definition: Definition;
  paths: HomePaths;
  /** Variables that the configuration takes from this shell. */
  missing: string[];
}

/** Gathers it. Throws `config_invalid` for a configuration with which the service wouldn't start. */
export async function defineService(inputs: DefineInputs): Promise<Defined> {
  return inputs.scope === "user" ? await forUser(inputs) : await forSystem(inputs);
}

async function forUser({ installation, env, paths }: DefineInputs): Promise<Defined> {
  const used = new Set<string>();
  const { config } = await loadConfig({
    paths,
    env(name) {
      const value = env(name);
      if (value) used.add(name);
      return value;
    },
    keepLastGood: false,
    forStart: { gateway: true },
  });
  const projects = (await new Projects(paths).list()).filter(({ allowed }) => allowed);
  const folders = [
    paths.home,
    dirname(paths.configFile),
    config.agent.workspace,
    ...projects.map(({ folder }) => folder),
    ...namedFolders(config),
    paths.socketDir,
    ...cacheDirs(installation, env, paths),
  ];
  const outer = folders.filter((folder, at) =>
    !folders.some((other, index) => (index < at || folder !== other) && isInside(folder, other))
  );
  // A released file sets its own.
  const names = "file" in installation ? PASSED_ON : [...PASSED_ON, "DENO_DIR"];
  const set = names.flatMap((name) => env(name) ? [[name, env(name)!]] : []);
  return {
    definition: {
      program: programOf(installation),
      env: Object.fromEntries(set),
      writable: outer,
      drainTimeoutS: config.agent.drainTimeoutS,
      logFile: serviceLog(paths),
    },
    paths,
    missing: [...used].filter((name) => ![...names, ...EVERYWHERE].includes(name)).sort(),
  };
}

/** Folders outside of the home in which settings have the service write or remove files. */
function namedFolders({ audit, log, retention }: Config): string[] {
  const files = [audit.mirror, log.file].filter((file) => file !== "");
  const { folder } = retention.backups;
  return [...files.map(dirname), ...folder === "" ? [] : [folder]];
}

/** Where the program unpacks itself, or has its packages. */
function cacheDirs(
  installation: Installation,
  env: DefineInputs["env"],
  { userHome }: HomePaths,
): string[] {
  const cache = env("XDG_CACHE_HOME") || `${userHome}/.cache`;
  return "file" in installation ? [`${cache}/service`] : [
    env("DENO_DIR") ||
    (Deno.build.os === "darwin" ? `${userHome}/Library/Caches/deno` : `${cache}/deno`),
  ];
}

async function forSystem({ installation }: DefineInputs): Promise<Defined> {
  const program = await checkForSystem(installation);
  const env = () => undefined;
  const paths = resolvePaths({ env, homeDir: SYSTEM_STATE_DIR });
  const { config } = await loadConfig({ paths, env, keepLastGood: false });
  const { workspace, drainTimeoutS } = config.agent;
  const folders = [workspace, ...namedFolders(config)];
  return {
    definition: {
      program: [program],
      env: { SERVICE_COMMAND: `sudo -H -u ${SYSTEM_USER} ${program}` },
      writable: folders.filter((folder) => !isInside(folder, SYSTEM_STATE_DIR)),
      drainTimeoutS,
      logFile: serviceLog(paths),
    },
    paths,
    missing: [],
  };
}

/** The program, if it may run as a user of its own. Throws `usage`, saying what it should be. */
async function checkForSystem(installation: Installation): Promise<string> {
  if (installation.kind !== "release") {
    throw new ServiceError(
      "usage",
      installation.kind === "package"
        ? "The package has a unit of its own. Start it with: systemctl enable --now service"
        : "--system needs a released program, and this one runs from source",
    );
  }
  const { file } = installation;
  const move = "Install it there with: sh install.sh --dir /usr/local/bin";
  if (/^\/(home|root|run)\//.test(file)) {
    throw new ServiceError("usage", `${file} is hidden from a system service. ${move}`);
  }
  for (let path = file; path !== "/"; path = dirname(path)) {
    const { uid, mode } = await Deno.stat(path);
    if (uid === 0 && ((mode ?? 0) & 0o022) === 0) continue;
    throw new ServiceError(
      "usage",
      `${path} can be changed by others than root, so a system service can't start ${file}. ${move}`,
    );
  }
  return file;
}
