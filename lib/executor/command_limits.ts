/**
 * Limits of a command: of each process by resource limits, of all of them together by a control group
 * where one can be had.
 *
 * The kernel counts processes by user and never holds root to that count, in a user namespace either. So
 * a service that runs as root needs a control group to hold a command that starts processes without end;
 * any other user's command is held by the count, which begins anew in the sandbox's namespace.
 *
 * @module
 */

import { EXEC_FILTERED } from "./seccomp_filter.ts";

/** How much a command may take. */
export interface CommandLimits {
  /** Of each process; of all together in a control group. */
  maxMemoryBytes: number;
  maxProcesses: number;
  /** None: it lives as long as it is wanted. */
  timeoutMs?: number;
}

const MAX_OPEN_FILES = 1_024;
const MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024;
const PROBE_TIMEOUT_MS = 5_000;
const DEFAULT_MEMORY_MIB = 2_048;
const DEFAULT_MAX_PROCESSES = 256;
/** A session is a Deno with a program under it, and that needs so much to start. */
const MIN_SESSION_MEMORY_MIB = 1_024;
/** What the relay of a network takes: a small Deno with its threads. */
const RELAY_MEMORY_MIB = 192;
const RELAY_PROCESSES = 24;

/** The limits of a configuration for one command or session. */
export function commandLimits(
  { maxMemoryMiB = DEFAULT_MEMORY_MIB, maxProcesses = DEFAULT_MAX_PROCESSES }: {
    maxMemoryMiB?: number;
    maxProcesses?: number;
  },
  { timeoutMs, isSession = false, hasRelay = false }: {
    timeoutMs?: number;
    isSession?: boolean;
    /** The relay of its network counts among its processes, and is not to be at its cost. */
    hasRelay?: boolean;
  },
): CommandLimits {
  const memoryMiB = isSession ? Math.max(maxMemoryMiB, MIN_SESSION_MEMORY_MIB) : maxMemoryMiB;
  return {
    maxMemoryBytes: (memoryMiB + (hasRelay ? RELAY_MEMORY_MIB : 0)) * 1024 * 1024,
    maxProcesses: maxProcesses + (hasRelay ? RELAY_PROCESSES : 0),
    timeoutMs,
  };
}

/**
 * Begins a script that starts a command under resource limits which it cannot raise again. The shell sets
 * them, as a program of its own, such as prlimit, takes as long as the shell does.
 */
export function limitScript(
  { maxMemoryBytes, maxProcesses, timeoutMs }: CommandLimits,
  /** Whether processes are counted from none; without a namespace the user's others count too. */
  counted: boolean,
): string {
  if (Deno.build.os !== "linux") return "";
  return [
    `ulimit -d ${Math.floor(maxMemoryBytes / 1024)}`,
    // Of processes: some shells know the one letter, others the other.
    ...(counted
      ? [`{ ulimit -u ${maxProcesses} 2> /dev/null || ulimit -p ${maxProcesses}; }`]
      : []),
    `ulimit -n ${MAX_OPEN_FILES}`,
    `ulimit -f ${MAX_FILE_BYTES / 512}`,
    // For what outlives everyone who could end it; several processes at work pass it by no means early.
    ...(timeoutMs === undefined ? [] : [`ulimit -t ${Math.ceil(timeoutMs / 1_000) * 8}`]),
    "ulimit -c 0 && ",
  ].join(" && ");
}

/**
 * Where groups are made: `each <function>` calls it with a controller and a folder. Version 2: beside the
 * group of the service, as a group with processes has no groups below it; version 1: below it. Nothing
 * is started for it.
 */
const EACH = `root=/sys/fs/cgroup
each() {
  if [ -e "$root/cgroup.controllers" ]; then
    while IFS=: read -r _ _ path; do own=$path; done < /proc/self/cgroup
    "$1" all "$root\${own%/*}"
  else
    while IFS=: read -r _ controller path; do
      case $controller in pids | memory) "$1" "$controller" "$root/$controller\${path%/}" ;; esac
    done < /proc/self/cgroup
  fi
}`;

/**
 * Enters a group of the given name, processes and bytes, and becomes the program that follows. By `tasks`
 * where there is one: a shell is one thread, and for that the kernel waits for nobody else (it waits for
 * all processors before it moves a whole process, 5 to 13 ms).
 */
const ENTER = `set -e
name=$1 processes=$2 bytes=$3
shift 3
${EACH}
enter() {
  dir=$2/$name
  [ -d "$dir" ] || mkdir "$dir"
  case $1 in
    all) echo "$processes" > "$dir/pids.max"; echo "$bytes" > "$dir/memory.max" ;;
    pids) echo "$processes" > "$dir/pids.max" ;;
    memory) echo "$bytes" > "$dir/memory.limit_in_bytes" ;;
  esac
  [ -e "$dir/tasks" ] && list=tasks || list=cgroup.procs
  echo 0 > "$dir/$list"
}
each enter
${EXEC_FILTERED}`;

const REMOVE = `${EACH}
remove() {
  tries=0
  while [ -d "$1" ] && ! rmdir "$1" 2> /dev/null && [ $tries -lt 50 ]; do
    tries=$((tries + 1))
    sleep 0.02
  done
}`;

/** Removes that group, once nothing runs in it. */
const LEAVE = `name=$1
${REMOVE}
leave() { remove "$2/$name"; }
each leave`;

/** Removes groups of processes that ended without removing them. */
const SWEEP = `${REMOVE}
sweep() {
  for dir in "$2"/service-*-*; do
    pid=\${dir##*/service-}
    pid=\${pid%%-*}
    case $pid in '' | *[!0-9]*) continue ;; esac
    [ -d "/proc/$pid" ] || remove "$dir"
  done
}
each sweep`;

/** Control groups of commands. */
export interface ControlGroups {
  /**
   * A script and its arguments, for a shell that becomes the command after them in a group of that name,
   * which is made if it is not there: what takes the time. The command finds the seccomp filter of that
   * path as bubblewrap is told to.
   */
  enter(name: string, limits: CommandLimits, filter: string): [script: string, ...args: string[]];
  /** Removes the group. Never rejects. */
  leave(name: string): Promise<void>;
}

/** Control groups if this user can make them, tried out; removes those of processes that were killed. */
export async function findControlGroups(): Promise<ControlGroups | undefined> {
  const groups: ControlGroups = {
    enter: (name, { maxProcesses, maxMemoryBytes }, filter) => [
      ENTER,
      ...[filter, name, String(maxProcesses), String(maxMemoryBytes)],
    ],
    leave: async (name) => {
      await runShell(["/bin/sh", "-c", LEAVE, "sh", name]);
    },
  };
  const name = groupName(0);
  const limits = { maxProcesses: 64, maxMemoryBytes: 64 * 1024 * 1024, timeoutMs: 1_000 };
  // In both of its groups, or it does not count.
  const check = ["/bin/sh", "-c", 'grep -c "$1" /proc/self/cgroup | grep -qx "[12]"', "sh", name];
  const isHeld = await runShell([
    ...["/bin/sh", "-c", ...groups.enter(name, limits, "/dev/null")],
    ...check,
  ]);
  await groups.leave(name);
  await runShell(["/bin/sh", "-c", SWEEP]);
  return isHeld ? groups : undefined;
}

/** Says whose group it is, so that it can be removed when that process was killed. */
export function groupName(number: number): string {
  return `service-${Deno.pid}-${number}`;
}

async function runShell(argv: readonly string[]): Promise<boolean> {
  try {
    const { success } = await new Deno.Command(argv[0]!, {
      args: argv.slice(1),
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin" },
      stdin: "null",
      stdout: "null",
      stderr: "null",
      signal: AbortSignal.timeout(PROBE_TIMEOUT_MS),
    }).output();
    return success;
  } catch {
    return false;
  }
}
