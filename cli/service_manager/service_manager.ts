/**
 * The programs that run the service at login or boot: what each is asked, as data.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { type Definition, MARK } from "./definition.ts";
import { LAUNCH_LABEL, launchAgent } from "./launch_agent.ts";
import { SYSTEM_STATE_DIR, SYSTEM_USER, systemdUnit, UNIT } from "./systemd_unit.ts";

/** One of them. Each command is a list of arguments. */
export interface ServiceManager {
  /** The file that defines the service. */
  file: string;
  /** Its text. */
  define(definition: Definition): string;
  /** Fails where the manager can't be reached. */
  probe: readonly string[];
  /** In order, once the file is written. */
  start: readonly (readonly string[])[];
  /** Prints `failed` or `auto-restart` for a service that ended. */
  state?: readonly string[];
  /** In order, while the file is there. */
  stop: readonly (readonly string[])[];
  /** In order, once the file is gone. */
  forget: readonly (readonly string[])[];
  /** Where variables for the service are set; undefined: in the file alone. */
  variables?: string;
  /** The command that shows its log. */
  log: string;
  /** Prints `no` where it ends when its user logs out. */
  outlivesLogin?: readonly string[];
}

/** For whom the service runs. */
export type Scope = "user" | "system";

/** What {@linkcode serviceManager} depends on. */
export interface ManagerInputs {
  scope: Scope;
  os: typeof Deno.build.os;
  uid: number | null;
  env: (name: string) => string | undefined;
  /** The user's home folder. */
  userHome: string;
}

/** The one of this machine. Throws `usage` where there is none, saying what to do instead. */
export function serviceManager(inputs: ManagerInputs): ServiceManager {
  const { os, scope } = inputs;
  if (os === "linux") return systemd(inputs);
  if (os === "darwin" && scope === "user") return launchd(inputs);
  throw new ServiceError(
    "usage",
    os === "darwin"
      ? "--system needs systemd. On macOS the service runs at login: service install"
      : os === "windows"
      ? "Windows services aren't supported. To start at login, put a shortcut to service start into " +
        "the folder that opens with Win+R and shell:startup"
      : `There is no service manager for ${os} here. Have yours run: service gateway`,
  );
}

function systemd({ scope, uid, env, userHome }: ManagerInputs): ServiceManager {
  const isUser = scope === "user";
  const systemctl = ["systemctl", ...isUser ? ["--user"] : []];
  const configHome = env("XDG_CONFIG_HOME") || `${userHome}/.config`;
  return {
    file: `${isUser ? `${configHome}/systemd/user` : "/etc/systemd/system"}/${UNIT}`,
    define: (definition) => `# ${MARK}\n${systemdUnit(definition, scope)}`,
    probe: [...systemctl, "show", "--property=Version"],
    start: [
      [...systemctl, "daemon-reload"],
      [...systemctl, "enable", "--quiet", UNIT],
      [...systemctl, "restart", UNIT],
    ],
    state: [...systemctl, "show", "--property=SubState", "--value", UNIT],
    stop: [[...systemctl, "disable", "--quiet", "--now", UNIT]],
    forget: [[...systemctl, "daemon-reload"]],
    variables: isUser ? `${configHome}/environment.d/service.conf` : "/etc/default/service",
    log: `journalctl ${isUser ? "--user-unit" : "-u"} ${UNIT}`,
    outlivesLogin: isUser
      ? ["loginctl", "show-user", String(uid), "--property=Linger", "--value"]
      : undefined,
  };
}

function launchd({ uid, userHome }: ManagerInputs): ServiceManager {
  const domain = `gui/${uid}`;
  const file = `${userHome}/Library/LaunchAgents/${LAUNCH_LABEL}.plist`;
  return {
    file,
    define: launchAgent,
    probe: ["launchctl", "print", domain],
    start: [["launchctl", "bootstrap", domain, file]],
    stop: [["launchctl", "bootout", `${domain}/${LAUNCH_LABEL}`]],
    forget: [],
    log: "service logs",
  };
}

/** The command that makes the user of the system's unit. */
export const MAKE_SYSTEM_USER: readonly string[] = [
  ...["useradd", "--system", "--user-group", "--home-dir", SYSTEM_STATE_DIR],
  ...["--shell", "/usr/sbin/nologin", SYSTEM_USER],
];
