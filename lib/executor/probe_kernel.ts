/**
 * A program of the sandbox's self-test: makes the system calls that a sandbox has to refuse, which no
 * shell can, and prints what came of it as a line of that test. It imports nothing.
 *
 * @module
 */

const PTRACE_TRACEME = 0n;
const KEYCTL_JOIN_SESSION_KEYRING = 1n;
const BPF_MAP_CREATE = 0n;
const UFFD_USER_MODE_ONLY = 1n;
const AF_VSOCK = 40n;
const SOCK_STREAM = 1n;

/** Numbers on x86_64 and on aarch64, and arguments with which a call goes through where it may. */
function calls(address: (bytes: ArrayBuffer) => bigint) {
  const ringParameters = new ArrayBuffer(120);
  // Type array, keys of 4 and values of 8 bytes, one entry.
  const map = new ArrayBuffer(72);
  new Uint32Array(map).set([2, 4, 8, 1]);
  return {
    io_uring: { numbers: [425n, 425n], args: [1n, address(ringParameters)] },
    keyctl: { numbers: [250n, 219n], args: [KEYCTL_JOIN_SESSION_KEYRING, 0n] },
    vsock: { numbers: [41n, 198n], args: [AF_VSOCK, SOCK_STREAM, 0n] },
    bpf: { numbers: [321n, 280n], args: [BPF_MAP_CREATE, address(map), 72n] },
    userfaultfd: { numbers: [323n, 282n], args: [UFFD_USER_MODE_ONLY] },
    // Last: what it is traced by would stop it.
    ptrace: { numbers: [101n, 117n], args: [PTRACE_TRACEME, 0n, 0n, 0n] },
  } satisfies Record<string, { numbers: [bigint, bigint]; args: bigint[] }>;
}

/** Prints `kernel_calls`, `held` or `open`, and the calls that went through. */
export function probeKernel(): void {
  const libc = Deno.dlopen("libc.so.6", {
    syscall: { parameters: ["i64", "i64", "i64", "i64", "i64"], result: "i64" },
    getpid: { parameters: [], result: "i32" },
  });
  const address = (bytes: ArrayBuffer) => Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
  const made = (numbers: readonly bigint[], [a = 0n, b = 0n, c = 0n, d = 0n]: readonly bigint[]) =>
    libc.symbols.syscall(numbers[Deno.build.arch === "x86_64" ? 0 : 1]!, a, b, c, d);
  // A call that may be made, or the others say nothing.
  const isAble = made([39n, 172n], []) === BigInt(libc.symbols.getpid());
  const tried = Object.entries(calls(address));
  const open = tried.filter(([, { numbers, args }]) => made(numbers, args) >= 0n)
    .map(([name]) => name);
  const held = isAble && open.length === 0;
  const detail = !isAble
    ? "no call works"
    : held
    ? `${tried.length} kinds, all refused`
    : open.join(" ");
  const line = `kernel_calls\t${held ? "held" : "open"}\t${detail}\n`;
  Deno.stdout.writeSync(new TextEncoder().encode(line));
}

if (import.meta.main) probeKernel();
