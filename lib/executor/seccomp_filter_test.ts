import { assert, assertEquals } from "@std/assert";
import { seccompFilter, writeSeccompFilter } from "./seccomp_filter.ts";

const MACHINES = {
  x86_64: { audit: 0xc000003e, other: 0x40000003 },
  aarch64: { audit: 0xc00000b7, other: 0x40000028 },
} as const;
type Arch = keyof typeof MACHINES;
const ARCHES = ["x86_64", "aarch64"] as const;

/** As the kernel runs it. Gives the error that a call fails with; 0 where it goes through. */
function judge(
  arch: Arch,
  call: number,
  args: number[] = [],
  audit: number = MACHINES[arch].audit,
) {
  const program = new DataView(seccompFilter(arch).buffer);
  let loaded = 0;
  for (let at = 0; at < program.byteLength; at += 8) {
    const value = program.getUint32(at + 4, true);
    const jump = (is: boolean) => at += 8 * program.getUint8(at + (is ? 2 : 3));
    switch (program.getUint16(at, true)) {
      case 0x20:
        loaded = value === 0 ? call : value === 4 ? audit : args[(value - 16) / 8] ?? 0;
        break;
      case 0x15:
        jump(loaded === value);
        break;
      case 0x35:
        jump(loaded >= value);
        break;
      case 0x45:
        jump((loaded & value) !== 0);
        break;
      case 0x06:
        return value === 0x7fff0000 ? 0 : value & 0xffff;
      default:
        throw new Error(`no such instruction at ${at}`);
    }
  }
  throw new Error("it runs out of its end");
}

/** Names as in <asm/unistd.h>. */
const NUMBERS = {
  x86_64: {
    ...{ read: 0, write: 1, open: 2, mmap: 9, ioctl: 16, socket: 41, socketpair: 53, clone: 56 },
    ...{ execve: 59, chmod: 90, fchmod: 91, ptrace: 101, keyctl: 250, openat: 257, mknodat: 259 },
    ...{ fchmodat: 268, unshare: 272, bpf: 321, userfaultfd: 323 },
  },
  aarch64: {
    ...{ read: 63, write: 64, mmap: 222, ioctl: 29, socket: 198, socketpair: 199, clone: 220 },
    ...{ execve: 221, fchmod: 52, ptrace: 117, keyctl: 219, openat: 56, mknodat: 33 },
    ...{ fchmodat: 53, unshare: 97, bpf: 280, userfaultfd: 282 },
  },
};

Deno.test("seccompFilter() lets ordinary calls through, and refuses by number and by argument", () => {
  for (const arch of ARCHES) {
    const of = NUMBERS[arch];
    const through = (call: number, ...args: number[]) =>
      assertEquals(judge(arch, call, args), 0, `${arch} ${call} ${args}`);
    const refused = (errno: number, call: number, ...args: number[]) =>
      assertEquals(judge(arch, call, args), errno, `${arch} ${call} ${args}`);
    for (const call of [of.read, of.write, of.mmap, of.execve]) through(call);
    for (const call of [of.ptrace, of.keyctl, of.bpf, of.userfaultfd, 425, 426, 427]) {
      refused(1, call);
    }
    // A thread, a process, a namespace.
    through(of.clone, 0x3d0f00);
    through(of.clone, 17);
    refused(1, of.clone, 0x10000000 | 17);
    through(of.unshare, 0x400);
    refused(1, of.unshare, 0x20000);
    refused(1, of.unshare, 0x80);
    // Programs fall back where a call does not exist: clone3, openat2, what is newer, the x32 ABI.
    for (const call of [435, 437, 463, 0x40000000, 0x40000000 + of.keyctl]) refused(38, call);
    through(of.fchmod, 3, 0o755);
    refused(1, of.fchmod, 3, 0o4755);
    refused(1, of.fchmodat, -100, 0, 0o2755);
    refused(1, 452, -100, 0, 0o4755);
    refused(1, of.mknodat, -100, 0, 0o104755);
    through(of.openat, -100, 0, 0o101, 0o644);
    refused(1, of.openat, -100, 0, 0o101, 0o4755);
    // Without a file to make, the mode is whatever was in the register.
    through(of.openat, -100, 0, 0, 0o7777);
    through(of.ioctl, 1, 0x5413);
    refused(1, of.ioctl, 1, 0x5412);
    for (const family of [1, 2, 10, 16]) through(of.socket, family, 1, 0);
    for (const family of [17, 38, 40]) refused(97, of.socket, family, 1, 0);
    refused(97, of.socketpair, 30, 1, 0);
    for (const protocol of [6, 17, 262]) through(of.socket, 2, 1, protocol);
    refused(93, of.socket, 10, 1, 132);
    refused(93, of.socket, 16, 3, 12);
  }
});

Deno.test("seccompFilter() knows no call of another architecture", () => {
  for (const arch of ARCHES) {
    for (const call of [0, 1, 63, 64]) {
      assertEquals(judge(arch, call, [], MACHINES[arch].other), 38);
    }
  }
});

Deno.test("writeSeccompFilter() leaves one file, however many write it at once", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Promise.all(Array.from({ length: 8 }, () => writeSeccompFilter(folder)));
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    assertEquals(names, ["seccomp-filter"]);
    assertEquals(await Deno.readFile(`${folder}/seccomp-filter`), seccompFilter());
    assert(seccompFilter().length / 8 < 4_096);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
