/**
 * Tries, in the very sandbox that commands get, what no command may do. What is not
 * shown to be held counts as open: an answer that is missing is no answer.
 *
 * @module
 */

import type { CommandEnd } from "./command_process.ts";
import { kernelProbeCommand } from "./kernel_probe.ts";

/** One thing that was tried. */
export interface SandboxTrial {
  /** Stable. */
  name: string;
  /** For people: what was tried. */
  tried: string;
  held: boolean;
  /** What came of it. */
  detail: string;
}

/** What the self-test found. */
export interface SandboxReport {
  ok: boolean;
  /** In one line. */
  reason: string;
  trials: SandboxTrial[];
}

/** What the self-test works with. */
export interface SelfTestDeps {
  /**
   * Runs a text for the shell in the sandbox of that workspace, with arguments from `$1`. What
   * `kernelProbeMounts()` says has to be there.
   */
  run(workspace: string, script: string, args: readonly string[]): Promise<CommandEnd>;
  /** Folder of our own, outside every workspace, in which folders can be made. */
  scratchDir: string;
}

/** In the order of the table. */
const TRIALS: readonly { name: string; tried: string }[] = [
  { name: "workspace", tried: "write a file in the workspace (this has to work)" },
  { name: "read_outside", tried: "read a file outside the workspace" },
  { name: "write_outside", tried: "write a file outside the workspace" },
  { name: "read_credentials", tried: "read a key in the workspace, by its name and after a move" },
  { name: "write_hooks", tried: "write .git/hooks, .git/config and AGENTS.md" },
  { name: "write_system", tried: "make files in /, /usr, /etc, /dev and /proc/sys" },
  { name: "kernel_files", tried: "open every file of /proc, /sys and /dev for writing" },
  { name: "read_secrets", tried: "read /etc/shadow and keys of the system" },
  { name: "network", tried: "find a network that leads anywhere" },
  { name: "processes", tried: "see processes that are not its own" },
  { name: "environment", tried: "read an environment that is not its own" },
  { name: "open_files", tried: "find files open that it did not open" },
  { name: "privileges", tried: "have a capability or a way to more" },
  { name: "user_namespace", tried: "make a user namespace of its own" },
  { name: "setuid", tried: "make a file that runs as its owner" },
  { name: "kernel_calls", tried: "io_uring, keyctl, AF_VSOCK, ptrace, bpf, userfaultfd" },
];

/**
 * `say <name> <held|open> <detail>`; `first <file>` leaves its first line in `line`. Every start of a
 * program costs more than what it does, so the shell itself does what it can.
 */
const SCRIPT = String.raw`
outside=$1 host=$2
shift 2
say() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
first() { line=; { IFS= read -r line < "$1"; } 2> /dev/null; }
own=$(readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/ipc)

if { echo made > made; } 2> /dev/null && first made && [ "$line" = made ]; then say workspace held written; else say workspace open 'cannot write'; fi

first "$outside/canary"
if [ -n "$line" ] || [ -e "$outside/canary" ]; then say read_outside open "$outside/canary"; else say read_outside held 'not there'; fi

(mkdir -p "$outside"; echo x > "$outside/written") 2> /dev/null
say write_outside held 'nothing came of it'

seen=
for path in .env keys/a.pem .ssh/id_rsa other; do
  first "$path"
  if [ -n "$line" ]; then seen="$seen $path"; fi
done
mv keys moved 2> /dev/null && seen="$seen keys"
first moved/a.pem
if [ -n "$line" ]; then seen="$seen moved/a.pem"; fi
if [ -z "$seen" ]; then say read_credentials held 'no byte'; else say read_credentials open "$seen"; fi

done=
for path in .git/hooks/x .git/config AGENTS.md .envrc; do
  if { echo x >> "$path"; } 2> /dev/null; then done="$done $path"; fi
done
mv .git moved-git 2> /dev/null && done="$done .git"
mv .git/hooks .git/other 2> /dev/null && done="$done hooks"
rm -f AGENTS.md 2> /dev/null && done="$done rm"
if [ -z "$done" ]; then say write_hooks held 'read-only'; else say write_hooks open "$done"; fi

done=
for dir in / /usr /usr/bin /bin /usr/lib /etc /dev /var /proc/sys/kernel; do
  if { echo x > "$dir/.service-probe"; } 2> /dev/null; then rm -f "$dir/.service-probe"; done="$done $dir"; fi
done
if [ -z "$done" ]; then say write_system held 'read-only'; else say write_system open "$done"; fi

seen= found=
files() { find /proc /sys /dev ! -type d ! -type l "$@" 2> /dev/null; }
# Opened, and closed again; null has to open, or nothing was tried. What access(2) denies does not open
# either; a find that cannot ask it names nothing.
paths=$(files -writable)
for path in ${"$"}{paths:-$(files)}; do
  if { { :; } >> "$path"; } 2> /dev/null; then
    case $path in
      /dev/null) found=yes ;;
      /dev/zero|/dev/full|/dev/random|/dev/urandom|/dev/tty|/dev/ptmx|/dev/pts/*) ;;
      *) seen="$seen $path" ;;
    esac
  fi
done
if [ -z "$seen" ] && [ -n "$found" ]; then say kernel_files held 'devices that are for everybody alone'; else say kernel_files open "$(echo $seen | cut -c 1-300)"; fi

seen=
for path in /etc/shadow /etc/gshadow /etc/ssl/private /etc/ssh /run/secrets /sys/kernel /boot; do
  if [ -r "$path" ] && [ -n "$(ls -A "$path" 2> /dev/null)" ]; then seen="$seen $path"; fi
done
# Folders on the way to the workspace are there, but nothing in them.
seen="$seen$(find /root /home /run /mnt /opt /srv /var/lib -xdev ! -type d 2> /dev/null | head -n 3)"
if [ -z "$seen" ]; then say read_secrets held 'not there'; else say read_secrets open "$seen"; fi

seen= found=
{
  read -r _; read -r _
  while IFS=': ' read -r name _; do
    if [ "$name" = lo ]; then found=lo; else seen="$seen $name"; fi
  done
} < /proc/net/dev
{
  read -r _
  if read -r _; then seen="$seen routes"; fi
} < /proc/net/route || seen="$seen routes-unknown"
case $own in net:*) ;; *) seen="$seen namespaces-unknown" ;; esac
for space in $own; do
  case " $host " in *" $space "*) seen="$seen $space" ;; esac
done
if [ -z "$seen" ] && [ "$found" = lo ]; then say network held 'a loopback of its own alone'; else say network open "$seen"; fi

count=0 seen=
for dir in /proc/[0-9]*; do
  count=$((count + 1))
done
for space in $own; do
  case $space in pid:*) case " $host " in *" $space "*) seen="$seen shared" ;; esac ;; esac
done
if [ -z "$seen" ] && [ $count -ge 2 ] && [ $count -le 8 ]; then say processes held "$count of its own"; else say processes open "$count$seen"; fi

seen= count=0
for name in $(cat /proc/[0-9]*/environ 2> /dev/null | tr '\0' '\n' | cut -d= -f1 | sort -u); do
  count=$((count + 1))
  case $name in HOME|LANG|PATH|TERM|TMPDIR|USER|PWD|OLDPWD|SHLVL|_) ;; *) seen="$seen $name" ;; esac
done
if [ -z "$seen" ] && [ $count -ge 6 ]; then say environment held 'its own alone'; else say environment open "$count$seen"; fi

seen=
for fd in /proc/self/fd/*; do
  case $fd in */0|*/1|*/2) ;; *) [ -e "$fd" ] && seen="$seen $(readlink "$fd")" ;; esac
done
if [ -e /proc/self/fd/1 ] && [ -z "$seen" ]; then say open_files held 'its three streams alone'; else say open_files open "$seen"; fi

seen=
effective=none new=none
while read -r name value; do
  case $name in
    CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:)
      [ "$value" = 0000000000000000 ] || seen="$seen $name$value"
      [ "$name" != CapEff: ] || effective=$value
      ;;
    NoNewPrivs:) new=$value ;;
  esac
done < /proc/self/status
[ "$effective" != none ] || seen="$seen CapEff?"
[ "$new" = 1 ] || seen="$seen NoNewPrivs"
if [ -z "$seen" ]; then say privileges held 'no capability, no new ones'; else say privileges open "$seen"; fi

unshare -U true > /dev/null 2>&1
case $? in
  0) say user_namespace open made ;;
  126|127) say user_namespace open 'not tried: there is no unshare' ;;
  *) say user_namespace held refused ;;
esac

chmod u+s made 2> /dev/null
if [ -u made ] || [ ! -f made ]; then say setuid open made; else say setuid held refused; fi
rm -f made

"$@" 2> /dev/null
`;

const NAMESPACES = `readlink /proc/self/ns/net /proc/self/ns/pid /proc/self/ns/ipc`;

/** Tries everything once. Nothing of it is left. */
export async function testSandbox({ run, scratchDir }: SelfTestDeps): Promise<SandboxReport> {
  const folder = `${scratchDir}/sandbox-test-${crypto.randomUUID()}`;
  const workspace = `${folder}/workspace`;
  const canary = crypto.randomUUID();
  try {
    await makeWorkspace(folder, workspace, canary);
    const end = await run(workspace, SCRIPT, [
      folder,
      await hostNamespaces(),
      ...kernelProbeCommand(),
    ]);
    const isWritten = await exists(`${folder}/written`);
    return judge(end, canary, isWritten);
  } finally {
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

/** The report of a sandbox that is not there. */
export function noSandbox(reason: string): SandboxReport {
  return { ok: false, reason, trials: [] };
}

async function makeWorkspace(folder: string, workspace: string, canary: string): Promise<void> {
  const folders = ["keys", ".ssh", ".git", ".git/hooks"];
  await Deno.mkdir(folder, { mode: 0o700 });
  await Deno.mkdir(workspace);
  for (const name of folders) await Deno.mkdir(`${workspace}/${name}`);
  const files = [".env", "keys/a.pem", ".ssh/id_rsa", ".git/HEAD", ".git/config", "AGENTS.md"];
  for (const name of files) await Deno.writeTextFile(`${workspace}/${name}`, canary);
  await Deno.link(`${workspace}/.env`, `${workspace}/other`);
  await Deno.writeTextFile(`${folder}/canary`, canary);
}

function judge(end: CommandEnd, canary: string, isWritten: boolean): SandboxReport {
  if (end.type !== "exited") {
    const reason = end.type === "fault" ? end.message : `the self-test ended by ${end.type}`;
    return noSandbox(reason);
  }
  const answers = new Map(
    end.output.split("\n").map((line) => {
      const [name, answer, ...detail] = line.split("\t");
      return [name!, { answer, detail: detail.join(" ").trim() }];
    }),
  );
  const trials = TRIALS.map(({ name, tried }) => {
    const said = answers.get(name);
    if (said === undefined) return { name, tried, held: false, detail: "no answer" };
    return { name, tried, held: said.answer === "held", detail: said.detail };
  });
  const at = (name: string) => trials.find((trial) => trial.name === name)!;
  // Known only from here: in the sandbox a folder of that name may be its own.
  if (isWritten) Object.assign(at("write_outside"), { held: false, detail: "it is there" });
  if (end.output.includes(canary)) {
    Object.assign(at("read_outside"), { held: false, detail: "its content was read" });
  }
  const open = trials.filter(({ held }) => !held).map(({ name }) => name);
  if (open.length === 0) {
    return { ok: true, reason: `${trials.length} trials, all held`, trials };
  }
  return { ok: false, reason: `it does not hold: ${open.join(", ")}`, trials };
}

/** The namespaces of this process, to compare with. */
async function hostNamespaces(): Promise<string> {
  const { stdout, success } = await new Deno.Command("/bin/sh", {
    args: ["-c", NAMESPACES],
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin" },
    stdin: "null",
    stderr: "null",
  }).output();
  const names = new TextDecoder().decode(stdout).trim().split("\n");
  if (!success || names.length !== 3) throw new Error("the namespaces here cannot be read");
  return names.join(" ");
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}
