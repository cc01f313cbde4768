/**
 * The system calls that a sandbox refuses, as a program for the kernel (seccomp(2)): what nothing in there
 * needs, and where most holes of the kernel were. Bubblewrap installs it as its last step.
 *
 * It lists what is refused, so that ordinary programs keep working; what is newer than this list does not
 * exist in there. A refused call fails and ends nobody.
 *
 * @module
 */

type Arch = typeof Deno.build.arch;

/** Numbers of a system call on x86_64 and on aarch64; one number is that of both. */
type Call = number | readonly [x86_64: number, aarch64: number | undefined];

const EPERM = 1;
const ENOSYS = 38;
const EPROTONOSUPPORT = 93;
const EAFNOSUPPORT = 97;

/** AUDIT_ARCH_… of <linux/audit.h>. */
const AUDIT_ARCH: Readonly<Record<Arch, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };

/** mseal(2): later calls were not judged. The numbers of the x32 ABI are beyond it too. */
const NEWEST_CALL = 462;

const REFUSED: readonly Call[] = [
  // Keyrings belong to the user, and no namespace parts them: add_key, request_key, keyctl.
  [248, 217],
  [249, 218],
  [250, 219],
  // io_uring_setup, io_uring_enter and io_uring_register: calls by a way that no filter sees.
  425,
  426,
  427,
  // bpf, perf_event_open, userfaultfd.
  [321, 280],
  [298, 241],
  [323, 282],
  // Other processes: ptrace, process_vm_readv, process_vm_writev, pidfd_getfd, kcmp.
  [101, 117],
  [310, 270],
  [311, 271],
  438,
  [312, 272],
  // Mounts and roots: mount, umount2, pivot_root, chroot, setns, open_tree to fspick, mount_setattr.
  [165, 40],
  [166, 39],
  [155, 41],
  [161, 51],
  [308, 268],
  428,
  429,
  430,
  431,
  432,
  433,
  442,
  // Files without a path, and watching whole file systems: open_by_handle_at, fanotify_init.
  [304, 265],
  [300, 262],
  // The machine: modules, kexec, reboot, swap, acct, quotactl, syslog, vhangup.
  [175, 105],
  [313, 273],
  [176, 106],
  [246, 104],
  [320, 294],
  [169, 142],
  [167, 224],
  [168, 225],
  [163, 89],
  [179, 60],
  443,
  [103, 116],
  [153, 58],
  // Its clock: settimeofday, clock_settime, clock_adjtime, adjtimex.
  [164, 170],
  [227, 112],
  [305, 266],
  [159, 171],
  // Its ports and segments: iopl, ioperm, modify_ldt; and what is long obsolete: uselib, _sysctl,
  // nfsservctl, lookup_dcookie.
  [172, undefined],
  [173, undefined],
  [154, undefined],
  [134, undefined],
  [156, undefined],
  [180, 42],
  [212, 18],
  // Where memory lies: mbind, set_mempolicy, migrate_pages, move_pages, set_mempolicy_home_node.
  [237, 235],
  [238, 237],
  [256, 238],
  [279, 239],
  450,
];

/** A condition on an argument, whose lower half is compared: the kernel reads no more of these. */
type Condition =
  | { argument: number; hasAnyOf: number }
  | { argument: number; is: number }
  | { argument: number; isNoneOf: readonly number[] };

interface Rule {
  calls: readonly Call[];
  /** Refused where all of them hold. */
  when?: readonly Condition[];
  errno: number;
}

const CLONE_NEW = 0x7e020000;
const CLONE_NEWTIME = 0x80;
const SET_ID = 0o6000;
/** O_CREAT, and what O_TMPFILE has beside O_DIRECTORY. */
const MAKES_FILE = 0o20000100;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF = { UNIX: 1, INET: 2, INET6: 10, NETLINK: 16 };
const NETLINK_ROUTE = 0;
/** The usual one, ICMP, TCP, UDP, ICMPv6, MPTCP. */
const INTERNET_PROTOCOLS = [0, 1, 6, 17, 58, 262];
const SOCKET: Call = [41, 198];
const SOCKETPAIR: Call = [53, 199];

/** A file of the workspace that runs as its owner would be that of the host's root, or person. */
const setId = (calls: readonly Call[], argument: number): Rule => ({
  calls,
  when: [{ argument, hasAnyOf: SET_ID }],
  errno: EPERM,
});

const RULES: readonly Rule[] = [
  // Arguments that lie in memory cannot be judged: programs fall back to clone and openat.
  { calls: [435, 437], errno: ENOSYS },
  { calls: [[56, 220]], when: [{ argument: 0, hasAnyOf: CLONE_NEW }], errno: EPERM },
  {
    calls: [[272, 97]],
    when: [{ argument: 0, hasAnyOf: CLONE_NEW | CLONE_NEWTIME }],
    errno: EPERM,
  },
  // chmod, fchmod, creat, mknod; fchmodat, fchmodat2, mknodat; open; openat.
  setId([[90, undefined], [91, 52], [85, undefined], [133, undefined]], 1),
  setId([[268, 53], 452, [259, 33]], 2),
  {
    calls: [[2, undefined]],
    when: [{ argument: 1, hasAnyOf: MAKES_FILE }, { argument: 2, hasAnyOf: SET_ID }],
    errno: EPERM,
  },
  {
    calls: [[257, 56]],
    when: [{ argument: 2, hasAnyOf: MAKES_FILE }, { argument: 3, hasAnyOf: SET_ID }],
    errno: EPERM,
  },
  // Typing into a terminal in somebody's name.
  { calls: [[16, 29]], when: [{ argument: 1, is: TIOCSTI }], errno: EPERM },
  { calls: [[16, 29]], when: [{ argument: 1, is: TIOCLINUX }], errno: EPERM },
  // Vsock is not parted by network namespaces; the rest are drivers that load by being asked for.
  {
    calls: [SOCKET, SOCKETPAIR],
    when: [{ argument: 0, isNoneOf: Object.values(AF) }],
    errno: EAFNOSUPPORT,
  },
  {
    calls: [SOCKET],
    when: [{ argument: 0, is: AF.NETLINK }, { argument: 2, isNoneOf: [NETLINK_ROUTE] }],
    errno: EPROTONOSUPPORT,
  },
  ...[AF.INET, AF.INET6].map((family): Rule => ({
    calls: [SOCKET],
    when: [{ argument: 0, is: family }, { argument: 2, isNoneOf: INTERNET_PROTOCOLS }],
    errno: EPROTONOSUPPORT,
  })),
];

/** One instruction, struct sock_filter of <linux/filter.h>. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const INSTRUCTION_BYTES = 8;
/** Offsets in struct seccomp_data of <linux/seccomp.h>. */
const CALL = 0;
const ARCH = 4;
const ARGUMENTS = 16;
const load = (offset: number): Instruction => [0x20, 0, 0, offset];
/** Over so many instructions, 255 at most. */
type Jump = (value: number, ifTrue: number, ifFalse: number) => Instruction;
const jumpIfEqual: Jump = (value, ifTrue, ifFalse) => [0x15, ifTrue, ifFalse, value];
const jumpIfAtLeast: Jump = (value, ifTrue, ifFalse) => [0x35, ifTrue, ifFalse, value];
const jumpIfAnyBit: Jump = (value, ifTrue, ifFalse) => [0x45, ifTrue, ifFalse, value];
const fail = (errno: number): Instruction => [0x06, 0, 0, 0x00050000 | errno];
const ALLOW: Instruction = [0x06, 0, 0, 0x7fff0000];

/** The program. Calls of another architecture than this one's, such as 32-bit ones, do not exist. */
export function seccompFilter(arch: Arch = Deno.build.arch): Uint8Array<ArrayBuffer> {
  const bodies = new Map<number, Instruction[]>();
  for (const { calls, when = [], errno } of [{ calls: REFUSED, errno: EPERM }, ...RULES]) {
    for (const call of calls) {
      const number = typeof call === "number" ? call : call[arch === "x86_64" ? 0 : 1];
      if (number === undefined) continue;
      const body = when.reduceRight<Instruction[]>(
        (rest, condition) => [...test(condition, rest.length), ...rest],
        [fail(errno)],
      );
      bodies.set(number, [...bodies.get(number) ?? [], ...body]);
    }
  }
  const program: Instruction[] = [
    load(ARCH),
    jumpIfEqual(AUDIT_ARCH[arch], 1, 0),
    fail(ENOSYS),
    load(CALL),
    jumpIfAtLeast(NEWEST_CALL + 1, 0, 1),
    fail(ENOSYS),
    ...search([...bodies].sort(([a], [b]) => a - b)),
  ];
  const bytes = new Uint8Array(program.length * INSTRUCTION_BYTES);
  const view = new DataView(bytes.buffer);
  program.forEach(([code, ifTrue, ifFalse, value], index) => {
    if (ifTrue > 255 || ifFalse > 255) throw new RangeError(`The jump at ${index} is too long`);
    const at = index * INSTRUCTION_BYTES;
    view.setUint16(at, code, true);
    view.setUint8(at + 2, ifTrue);
    view.setUint8(at + 3, ifFalse);
    view.setUint32(at + 4, value, true);
  });
  return bytes;
}

/** By halves: the kernel runs it once for every number as it is installed, which a list makes slow. */
function search(bodies: readonly (readonly [number, readonly Instruction[]])[]): Instruction[] {
  const half = Math.floor(bodies.length / 2);
  const [number, body] = bodies[half]!;
  if (bodies.length === 1) return [jumpIfEqual(number, 0, body.length), ...body, ALLOW];
  const below = search(bodies.slice(0, half));
  return [jumpIfAtLeast(number, below.length, 0), ...below, ...search(bodies.slice(half))];
}

/** Goes on where it holds, else over so many instructions. */
function test(condition: Condition, otherwise: number): Instruction[] {
  const argument = load(ARGUMENTS + 8 * condition.argument);
  if ("is" in condition) return [argument, jumpIfEqual(condition.is, 0, otherwise)];
  if ("hasAnyOf" in condition) return [argument, jumpIfAnyBit(condition.hasAnyOf, 0, otherwise)];
  const { isNoneOf } = condition;
  return [
    argument,
    ...isNoneOf.map((value, at) => jumpIfEqual(value, isNoneOf.length - 1 - at + otherwise, 0)),
  ];
}

/** Where bubblewrap finds the program. One digit: the plainest shells know no more. */
const FILTER_FD = "9";

/** Arguments of bwrap. */
export const SECCOMP: readonly string[] = ["--seccomp", FILTER_FD];

/** Ends a script that starts it: becomes the command line in its arguments. `$0`: path of the program. */
export const EXEC_FILTERED = `exec "$@" ${FILTER_FD}< "$0"`;

/** Writes the program into a folder of ours. Gives its path. */
export async function writeSeccompFilter(folder: string): Promise<string> {
  const path = `${folder}/seccomp-filter`;
  // A process beside this one may be about to read it.
  const written = `${path}-${crypto.randomUUID()}`;
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  await Deno.writeFile(written, seccompFilter(), { mode: 0o600 });
  await Deno.rename(written, path);
  return path;
}
