/**
 * How a child is started: the one place that knows both ways.
 *
 * Where there is a Deno, the child is `deno run` of its own module with exactly the permissions of its
 * action. The compiled binary can't be given permissions by its parent, so it is started with a hidden first
 * argument and narrows itself (see `child.ts`).
 *
 * @module
 */

// Of other folders types alone, and the layout: a child loads this module, and sees no more of them.
import type { LockedPackages } from "../packages/locked_packages.ts";
import { entryUrl, PACKAGE_CONDITIONS } from "../base/entries.ts";
import { NARROWS_ITSELF } from "../base/layout.ts";

/** What an action's child may do; nothing else is granted. */
export interface ChildPermissions {
  /** Absolute paths. */
  read: readonly string[];
  write: readonly string[];
  /** `<address>:<port>`, IPv6 in brackets; a bare name for the resolver. */
  net: readonly string[];
  /** Address ranges that stay closed whatever `net` says: a second wall. */
  denyNet: readonly string[];
  /** Every address that `denyNet` leaves open, beside `net`; for a child that asks about each. */
  everyAddress?: true;
  /** Absolute paths of programs that it may start; only for a child in the sandbox of commands. */
  run?: readonly string[];
  /** Names of variables that it may read. */
  env?: readonly string[];
  /** Kinds of facts about the system, as Deno names them. */
  sys?: readonly string[];
}

/** Nothing at all. */
export const NO_PERMISSIONS: ChildPermissions = { read: [], write: [], net: [], denyNet: [] };

/** Hidden first argument of a process that narrows itself. */
export const CHILD_ARGUMENT = "__child";

/** All that the launcher may: what `deno.json` names `service`, and what is baked into the compiled binary. */
export const LAUNCHER_GRANTS: readonly string[] = [
  ...["--allow-read", "--allow-write", "--allow-net", "--allow-env", "--allow-run", "--allow-sys"],
];

/** A program and what it is given. */
export interface ChildCommand {
  path: string;
  args: string[];
  /** Its whole environment. */
  env: Record<string, string>;
}

/** What a command is built from. */
export interface ChildCommandOptions {
  /** What a process that narrows itself is told to be: a name of `entries.ts`. */
  tool: string;
  /** Its module, a `file:` URL; unused where it narrows itself. */
  entry: URL;
  permissions: ChildPermissions;
  /** From source only: the binary holds its packages. A child without it can import none. */
  packages?: LockedPackages;
  /** Of V8's heap; Infinity: V8's own bound. */
  maxHeapMiB: number;
  /** Of each half of where V8 keeps what is new; default: its own. */
  maxNewMiB?: number;
  /** Where Deno keeps what it derives from the sources; without a writable one it takes 160 ms more. */
  cacheDir: string;
  /** Whether V8's code is kept there too, for a child that is started again and again. */
  keepsCode?: boolean;
  execPath: string;
}

/** The command of a child. */
export function childCommand(options: ChildCommandOptions): ChildCommand {
  const { permissions, execPath } = options;
  const heap = [
    ...options.maxHeapMiB === Infinity ? [] : [`--max-old-space-size=${options.maxHeapMiB}`],
    ...options.maxNewMiB === undefined ? [] : [`--max-semi-space-size=${options.maxNewMiB}`],
  ].join(",");
  const env = {
    ...{ DENO_DIR: options.cacheDir, DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
    ...options.packages !== undefined && { DENO_CONDITIONS: PACKAGE_CONDITIONS },
  };
  const narrowing = [CHILD_ARGUMENT, options.tool, JSON.stringify(permissions)];
  if (Deno.build.standalone) {
    return { path: execPath, args: narrowing, env: { ...env, DENO_V8_FLAGS: heap } };
  }
  // Deno splits the value of a flag at every comma and knows no escape, so a path that holds one would
  // grant two others. Such a child is given the kinds as a whole and narrows itself like the binary.
  const isExact = !NARROWS_ITSELF &&
    ![...permissions.read, ...permissions.write, ...permissions.run ?? []]
      .some((path) => path.includes(","));
  const grants = isExact
    ? [
      ...flag("--allow-read", permissions.read),
      ...flag("--allow-write", permissions.write),
      ...(permissions.everyAddress ? ["--allow-net"] : flag("--allow-net", permissions.net)),
      ...flag("--deny-net", permissions.denyNet),
      ...flag("--allow-run", permissions.run ?? []),
      ...flag("--allow-env", permissions.env ?? []),
      ...flag("--allow-sys", permissions.sys ?? []),
      options.entry.href,
    ]
    : [
      "--unstable-worker-options",
      ...NARROWS_ITSELF ? LAUNCHER_GRANTS : kindsOf(permissions),
      entryUrl("child").href,
      ...narrowing,
    ];
  return {
    path: execPath,
    args: [
      "run",
      "--quiet",
      "--no-prompt",
      ...options.packages === undefined
        ? ["--no-config", "--no-lock", "--no-npm", "--unstable-no-legacy-abort"]
        : [
          ...["--config", options.packages.configFile],
          ...[`--lock=${options.packages.lockFile}`, "--frozen"],
        ],
      "--no-remote",
      "--deny-import",
      "--cached-only",
      // Most children are short: reading and writing V8's code cache costs more than it saves.
      ...options.keepsCode ? [] : ["--no-code-cache"],
      ...heap === "" ? [] : [`--v8-flags=${heap}`],
      ...grants,
    ],
    env,
  };
}

/** The kinds of permissions that a child needs, as a whole. */
function kindsOf({ write, net, everyAddress, denyNet, run, env, sys }: ChildPermissions): string[] {
  return [
    "--allow-read",
    ...(write.length > 0 ? ["--allow-write"] : []),
    ...(net.length > 0 || everyAddress ? ["--allow-net"] : []),
    ...flag("--deny-net", denyNet),
    ...(run === undefined ? [] : ["--allow-run"]),
    ...(env === undefined ? [] : ["--allow-env"]),
    ...(sys === undefined ? [] : ["--allow-sys"]),
  ];
}

function flag(name: string, values: readonly string[]): string[] {
  return values.length === 0 ? [] : [`${name}=${values.join(",")}`];
}
