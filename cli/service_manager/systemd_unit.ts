/**
 * The systemd unit of the service, for the manager of one user or that of the system. What the launcher
 * doesn't need is off. It needs bubblewrap, the network, and its home, workspace and projects.
 *
 * @module
 */

import { type Definition, stopTimeoutS } from "./definition.ts";

/** Name of the unit. */
export const UNIT = "service.service";

/** The user of the system's unit; its state is in a folder of that name. */
export const SYSTEM_USER = "service";

/** Home folder of that user. */
export const SYSTEM_STATE_DIR = `/var/lib/${SYSTEM_USER}`;

/** Options that would break the service, and why. */
const LEFT_OUT: readonly (readonly [options: string, why: string])[] = [
  ["MemoryDenyWriteExecute", "V8 compiles while it runs"],
  ["RestrictNamespaces", "bubblewrap makes every kind of namespace"],
  ["ProtectHostname", "bubblewrap names the host of a sandbox"],
  ["ProtectKernelTunables, ProcSubset", "bubblewrap limits namespaces by a file below /proc/sys"],
  [
    "ProtectProc, ProtectKernelLogs",
    "with parts of /proc covered, a kernel may refuse bubblewrap one",
  ],
  ["PrivateUsers", "hides which user of this machine connects (gates.trustedUids)"],
  [
    "PrivateNetwork, IPAddressDeny",
    "models and channels may be anywhere; the gateway has its own table",
  ],
  ["NoExecPaths", "the program unpacks to its cache; commands run programs of the workspace"],
];

/** The text of its file. The system's unit may write to its state folder besides. */
export function systemdUnit(definition: Definition, scope: "user" | "system"): string {
  const { program, env, writable } = definition;
  const isSystem = scope === "system";
  const system = (...lines: string[]) => isSystem ? lines : [];
  const lines = [
    "[Unit]",
    "Description=Self-hosted agent runtime",
    ...system("Wants=network-online.target", "After=network-online.target"),
    "StartLimitIntervalSec=0",
    "",
    "[Service]",
    "Type=exec",
    `ExecStart=${[...program, "gateway"].map(execArgument).join(" ")}`,
    "# Fails, and changes nothing, where the configuration is broken.",
    `ExecReload=${[...program, "reload"].map(execArgument).join(" ")}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    ...system(
      "EnvironmentFile=-/etc/default/service",
      `User=${SYSTEM_USER}`,
      `StateDirectory=${SYSTEM_USER}`,
      "StateDirectoryMode=0700",
      `WorkingDirectory=${SYSTEM_STATE_DIR}`,
    ),
    ...isSystem ? [] : [
      "# Where the program unpacks itself: made again when somebody has emptied the cache.",
      "CacheDirectory=service",
      "CacheDirectoryMode=0700",
    ],
    "UMask=0077",
    "",
    "# From 5 s to 5 min between starts; systemd before 254 stays at 5 s.",
    "Restart=on-failure",
    "RestartSec=5",
    "RestartSteps=8",
    "RestartMaxDelaySec=5min",
    "# Another start doesn't mend a wrong command line (2) or configuration (3), and a second signal",
    "# ends the service at once (130).",
    "RestartPreventExitStatus=2 3 130",
    "SuccessExitStatus=130",
    "# The launcher stops its processes, after agent.drainTimeoutS.",
    "KillMode=mixed",
    `TimeoutStopSec=${stopTimeoutS(definition)}`,
    "# A command that takes too much memory ends alone.",
    "OOMPolicy=continue",
    "",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    `ProtectHome=${isSystem ? "yes" : "read-only"}`,
    ...writable.map((folder) => `ReadWritePaths=${quoted(`-${folder}`)}`),
    "PrivateTmp=yes",
    "ProtectControlGroups=yes",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures=native",
    "# @mount and sethostname are for bubblewrap.",
    "SystemCallFilter=@system-service @mount sethostname",
    "SystemCallFilter=~@keyring",
    "SystemCallErrorNumber=EPERM",
    ...system(
      "CapabilityBoundingSet=",
      "PrivateDevices=yes",
      "PrivateIPC=yes",
      "RemoveIPC=yes",
      "ProtectClock=yes",
      "ProtectKernelModules=yes",
      "KeyringMode=private",
    ),
    "",
    "# Left out:",
    ...LEFT_OUT.map(([options, why]) => `# - ${options}: ${why}`),
    ...isSystem ? [] : ["# - PrivateDevices, ProtectClock, ProtectKernelModules: only root can"],
    "",
    "[Install]",
    `WantedBy=${isSystem ? "multi-user.target" : "default.target"}`,
  ];
  return lines.join("\n") + "\n";
}

/** One argument of a command line (systemd.service(5)). */
function execArgument(text: string): string {
  return quoted(text.replaceAll("$", "$$$$"));
}

/** One word of a list (systemd.syntax(7)). */
function quoted(text: string): string {
  const escaped = text.replaceAll("%", "%%");
  if (/^[\w@%+=:,./$-]+$/.test(escaped)) return escaped;
  return `"${escaped.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")}"`;
}
