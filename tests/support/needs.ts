/**
 * What a test needs of the machine. Where that is missing the test is skipped, and its name says why:
 *
 * ```ts ignore
 * Deno.test(needs("a chat works behind nginx", "nginx", "openssl"), async () => {});
 * ```
 *
 * @module
 */

import { PROGRAM_FOLDERS } from "../../lib/executor/sandbox.ts";

/** A program that tests start. */
export interface Program {
  command: string;
  /** The Debian package that holds it. */
  package: string;
  /** The service, or its sandbox, has it from the system's folders alone: another copy is of no use. */
  inSystemFolder?: true;
  /** Arguments that have to succeed and print this, where there are programs of the same name. */
  prints?: { args: readonly string[]; text: string };
}

/** Programs, by the name that the need has in a test. */
export const PROGRAMS = {
  bash: { command: "bash", package: "bash" },
  bubblewrap: { command: "bwrap", package: "bubblewrap", inSystemFolder: true },
  cat: { command: "cat", package: "coreutils" },
  chmod: { command: "chmod", package: "coreutils" },
  chromium: { command: "chromium", package: "chromium" },
  cp: { command: "cp", package: "coreutils" },
  curl: { command: "curl", package: "curl", inSystemFolder: true },
  cut: { command: "cut", package: "coreutils" },
  dovecot: { command: "dovecot", package: "dovecot-imapd" },
  dpkg: { command: "dpkg", package: "dpkg" },
  "dpkg-deb": { command: "dpkg-deb", package: "dpkg" },
  env: { command: "env", package: "coreutils" },
  exim: { command: "exim4", package: "exim4-daemon-light" },
  find: { command: "find", package: "findutils" },
  fish: { command: "fish", package: "fish" },
  git: { command: "git", package: "git", inSystemFolder: true },
  gzip: { command: "gzip", package: "gzip" },
  head: { command: "head", package: "coreutils" },
  ip: { command: "ip", package: "iproute2" },
  jq: { command: "jq", package: "jq" },
  ldd: { command: "ldd", package: "libc-bin" },
  ls: { command: "ls", package: "coreutils" },
  mkdir: { command: "mkdir", package: "coreutils" },
  mkfifo: { command: "mkfifo", package: "coreutils" },
  mktemp: { command: "mktemp", package: "coreutils" },
  mount: { command: "mount", package: "mount" },
  mv: { command: "mv", package: "coreutils" },
  nginx: { command: "nginx", package: "nginx-light" },
  ngircd: { command: "ngircd", package: "ngircd" },
  node: { command: "node", package: "nodejs", inSystemFolder: true },
  npm: { command: "npm", package: "npm", inSystemFolder: true },
  openssl: { command: "openssl", package: "openssl" },
  perl: { command: "perl", package: "perl-base", inSystemFolder: true },
  prosody: { command: "prosody", package: "prosody" },
  python3: { command: "python3", package: "python3", inSystemFolder: true },
  readlink: { command: "readlink", package: "coreutils" },
  rm: { command: "rm", package: "coreutils" },
  // BSD has a program of this name with other options.
  script: {
    command: "script",
    package: "bsdutils",
    prints: { args: ["--version"], text: "util-linux" },
  },
  sed: { command: "sed", package: "sed" },
  setpriv: { command: "setpriv", package: "util-linux" },
  setsid: { command: "setsid", package: "util-linux" },
  sh: { command: "sh", package: "dash" },
  sleep: { command: "sleep", package: "coreutils" },
  sort: { command: "sort", package: "coreutils" },
  ss: { command: "ss", package: "iproute2" },
  "systemd-analyze": { command: "systemd-analyze", package: "systemd" },
  tail: { command: "tail", package: "coreutils" },
  tar: { command: "tar", package: "tar" },
  tmux: { command: "tmux", package: "tmux" },
  tr: { command: "tr", package: "coreutils" },
  umount: { command: "umount", package: "mount" },
  uname: { command: "uname", package: "coreutils" },
  unshare: { command: "unshare", package: "util-linux" },
  useradd: { command: "useradd", package: "passwd" },
  wc: { command: "wc", package: "coreutils" },
  zsh: { command: "zsh", package: "zsh" },
} as const satisfies Record<string, Program>;

/**
 * What bubblewrap has to make for a test: a sandbox such as the service's, of a program that does nothing.
 * Without the root, whose mounts other tests come and go with, and bubblewrap then gives up.
 */
const TRIAL = [
  ...["--unshare-user", "--unshare-pid", "--unshare-net", "--disable-userns", "--cap-drop", "ALL"],
  ...["--ro-bind", "/usr", "/usr"],
  ...["/bin", "/lib", "/lib64"].flatMap((path) => ["--ro-bind-try", path, path]),
  ...["--proc", "/proc", "--dev", "/dev", "--", "/bin/sh", "-c", ":"],
];

/** The need of a bubblewrap that is installed, and that the kernel lets work. */
export const WORKING_BUBBLEWRAP = "a working bubblewrap";

/** What the system or its user has to be. */
const CONDITIONS = {
  Linux: ({ os }: Machine) => os === "linux",
  Unix: ({ os }: Machine) => os !== "windows",
  root: ({ uid }: Machine) => uid === 0,
};

/** The name of something in the tables, or a condition of one test alone. */
export type Need =
  | keyof typeof PROGRAMS
  | keyof typeof CONDITIONS
  | { what: string; isThere: boolean };

/** As much of a machine as needs depend on. */
export interface Machine {
  os: typeof Deno.build.os;
  /** The value of the variable PATH. */
  path: string;
  /** Null on Windows. */
  uid: number | null;
  /** Whether there is a file that may be executed. */
  isProgram(path: string): boolean;
  /** What a program prints; undefined where it fails. */
  run(program: string, args: readonly string[]): string | undefined;
}

const HERE: Machine = {
  os: Deno.build.os,
  path: Deno.env.get("PATH") ?? "",
  uid: Deno.uid(),
  isProgram,
  run(program, args) {
    try {
      const ended = new Deno.Command(program, { args: [...args], stdin: "null" }).outputSync();
      return ended.success ? new TextDecoder().decode(ended.stdout) : undefined;
    } catch {
      return undefined;
    }
  },
};

/** Name and `ignore` of a test that needs something; the name stays as it is where nothing is missing. */
export function needs(name: string, ...all: (Need | false)[]): { name: string; ignore: boolean } {
  return createNeeds(HERE)(name, ...all);
}

/** The path of a program that a test has named among its needs. */
export function programPath(name: keyof typeof PROGRAMS): string {
  const path = findProgram(PROGRAMS[name], HERE);
  if (path === undefined) throw new Error(`Cannot find ${name}: the test has to need it`);
  return path;
}

/** `needs` for any machine. */
export function createNeeds(machine: Machine): typeof needs {
  return (name, ...all) => {
    const missing = all.flatMap((need) => need === false ? [] : whatIsMissing(need, machine));
    if (missing.length === 0) return { name, ignore: false };
    return { name: `${name} (needs ${listed([...new Set(missing)])})`, ignore: true };
  };
}

/**
 * A program in the folders of PATH. Debian keeps servers in `sbin` folders, which only root's PATH has: so
 * the `sbin` beside each `bin` is searched too.
 */
export function findProgram(
  program: Program,
  { os, path, isProgram, run }: Machine,
): string | undefined {
  const isWindows = os === "windows";
  const folders = path.split(isWindows ? ";" : ":").filter((folder) => folder !== "")
    .flatMap((folder) => [folder, ...(/\/bin\/?$/.test(folder) ? [sbinBeside(folder)] : [])])
    .filter((folder) => program.inSystemFolder === undefined || PROGRAM_FOLDERS.includes(folder));
  const { command, prints } = program;
  return folders.map((folder) => `${folder}/${command}${isWindows ? ".exe" : ""}`).find((file) =>
    isProgram(file) && (prints === undefined || run(file, prints.args)?.includes(prints.text))
  );
}

function sbinBeside(folder: string): string {
  return folder.replace(/bin\/?$/, "sbin");
}

/** Whether a file may be executed. */
export function isProgram(path: string): boolean {
  try {
    const { isFile, mode } = Deno.statSync(path);
    return isFile && (mode === null || (mode & 0o111) !== 0);
  } catch {
    return false;
  }
}

/** Names of what is missing. Bubblewrap has two: not installed is mended in another way than refused. */
function whatIsMissing(need: Need, machine: Machine): string[] {
  if (typeof need === "object") return need.isThere ? [] : [need.what];
  if (need in CONDITIONS) {
    return CONDITIONS[need as keyof typeof CONDITIONS](machine) ? [] : [need];
  }
  const path = findProgram(PROGRAMS[need as keyof typeof PROGRAMS], machine);
  if (path === undefined) return [need];
  if (need !== "bubblewrap") return [];
  return sandboxes(path, machine) ? [] : [WORKING_BUBBLEWRAP];
}

const tried = new WeakMap<Machine, boolean>();

/** Found once a machine: a file of tests asks for every one of them. */
function sandboxes(bwrap: string, machine: Machine): boolean {
  const known = tried.get(machine) ?? machine.run(bwrap, TRIAL) !== undefined;
  tried.set(machine, known);
  return known;
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
