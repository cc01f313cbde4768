/**
 * How a sandbox gets its network: the folder of its proxy's socket, a relay that serves programs on the
 * sandbox's own loopback, and the variables that tell them of it.
 *
 * The loopback is made by a bubblewrap of its own around the sandbox, which may then say that every port
 * can be had by everybody there; the sandbox itself has no right over it.
 *
 * @module
 */

import { basename, dirname } from "@std/path";
import { PROXY_ADDRESS } from "../../network/relay/plan.ts";
import { CHILD_ARGUMENT } from "../command.ts";
import { type ChildUser, findProgram, ISOLATION, memoryFolder } from "../sandbox.ts";
import { entryUrl } from "../../base/entries.ts";
import { sourcePaths } from "../../base/layout.ts";

/** What the sandbox of a program with hosts needs beside what every sandbox has. */
export interface NetworkSandbox {
  /**
   * Arguments that stand between one bwrap and the next: the outer one makes the loopback, and the inner
   * one shares it. Empty where that does not work: the inner one makes its own, without low ports.
   */
  outer: readonly string[];
  /** Arguments of the inner bwrap. */
  mounts: readonly string[];
  /** Starts the relay and becomes what follows. */
  start: readonly string[];
}

/** Folder of it all inside. */
const INSIDE = "/run/network";
const CACHE_BYTES = 32 * 1024 * 1024;
const RELAY_HEAP_MIB = 128;
const PROBE_TIMEOUT_MS = 5_000;

/** Nothing of it fails a start: where the kernel's files cannot be written, low ports cannot be had. */
const OPEN_PORTS = `bwrap=$1; shift
(echo 0 > /proc/sys/net/ipv4/ip_unprivileged_port_start) 2> /dev/null
exec "$bwrap" "$@"`;

/** In a group of nobody's: the command is not told of the relay's end, nor waits for it. */
const START = `ready=${INSIDE}/cache/ready
mkfifo "$ready" || exit 126
(exec setsid RELAY < /dev/null > "$ready" 2> /dev/null &)
read -r said < "$ready" || said=
rm -f "$ready"
if [ "$said" != ready ]; then
  echo "the relay of its network does not start" >&2
  exit 126
fi
unset ready said
exec "$@"`;

/** What a sandbox needs for the proxy whose socket this is. */
export async function networkSandbox(
  socket: string,
  { user }: {
    /** Whom programs in there are, where that is another one than ours. */
    user?: ChildUser;
  } = {},
): Promise<NetworkSandbox> {
  const folder = dirname(socket);
  const bwrap = await findProgram("bwrap");
  if (bwrap === undefined) throw new Error("bwrap is not there");
  const program = await Deno.realPath(Deno.execPath());
  const sources = Deno.build.standalone ? [] : sourcePaths(["lib/network"])
    .flatMap((path) => ["--ro-bind", path, `${INSIDE}/source`]);
  const mounts = [
    ...["--ro-bind", folder, `${INSIDE}/proxy`],
    ...["--ro-bind", `${folder}/hosts`, "/etc/hosts"],
    ...["--ro-bind", program, `${INSIDE}/program`],
    ...memoryFolder(`${INSIDE}/cache`, CACHE_BYTES),
    ...sources,
    ...Object.entries(proxyEnv()).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
  return {
    outer: user !== undefined
      ? rootsOuterSandbox(bwrap)
      : await (nests ??= canNest(bwrap))
      ? outerSandbox(bwrap)
      : [],
    mounts,
    start: ["/bin/sh", "-c", START.replace("RELAY", relayCommand), "sh"],
  };
}

/** Whether one sandbox can be made in another here; found once, as it stays so. */
let nests: Promise<boolean> | undefined;

async function canNest(bwrap: string): Promise<boolean> {
  const inner = [...ISOLATION, "--clearenv", "--ro-bind", "/", "/", "--proc", "/proc"];
  const { success } = await new Deno.Command(bwrap, {
    args: [...outerSandbox(bwrap), ...inner, "--", "/bin/sh", "-c", ":"],
    clearEnv: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
  }).output();
  return success;
}

function outerSandbox(bwrap: string): string[] {
  return [
    ...["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--die-with-parent"],
    // The second is what the kernel asks for before it lets a namespace below have this user.
    ...["--cap-drop", "ALL", "--cap-add", "CAP_NET_ADMIN", "--cap-add", "CAP_SETFCAP"],
    ...["--bind", "/", "/", "--dev-bind", "/dev", "/dev", "--"],
    ...["/bin/sh", "-c", OPEN_PORTS, "sh", bwrap],
  ];
}

/** Root's own, as one in a namespace of users could not let the inner one become another user. */
function rootsOuterSandbox(bwrap: string): string[] {
  return [
    ...[
      "--unshare-net",
      "--die-with-parent",
      "--bind",
      "/",
      "/",
      "--dev-bind",
      "/dev",
      "/dev",
      "--",
    ],
    ...["/bin/sh", "-c", OPEN_PORTS, "sh", bwrap],
  ];
}

/** Variables for programs that know proxies. The lower-case ones are what most of them read. */
export function proxyEnv(): Record<string, string> {
  const proxy = `http://${PROXY_ADDRESS.hostname}:${PROXY_ADDRESS.port}`;
  const own = "localhost,127.0.0.1,::1";
  return {
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: own,
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: own,
    // From version 24 on node follows these variables if it is told to.
    NODE_USE_ENV_PROXY: "1",
  };
}

/** A text for the shell: fixed paths alone. */
/** Its module has the same name in both forms but for the ending. */
const RELAY = basename(entryUrl("network_relay").pathname);

function relayCommand(): string {
  const env = `env -i DENO_DIR=${INSIDE}/cache DENO_NO_UPDATE_CHECK=1`;
  const folder = `${INSIDE}/proxy`;
  const heap = `--max-old-space-size=${RELAY_HEAP_MIB}`;
  if (Deno.build.standalone) {
    return `${env} DENO_V8_FLAGS=${heap} ${INSIDE}/program ${CHILD_ARGUMENT} network_relay ${folder}`;
  }
  const flags = "--quiet --no-prompt --no-config --no-lock --no-npm --no-remote --cached-only";
  return `${env} ${INSIDE}/program run ${flags} --no-code-cache --v8-flags=${heap} --allow-net ` +
    `--allow-read=${folder} --allow-write=${folder} ${INSIDE}/source/relay/${RELAY} ${folder}`;
}
