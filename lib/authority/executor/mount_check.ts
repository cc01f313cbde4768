/**
 * What stands between the sandbox of a command and the command: a look at what was really mounted.
 *
 * Bubblewrap is given names, and follows links in them. A command that runs at the same time in the same
 * workspace can put a link in a guarded folder's place between the look at the workspace and the mount,
 * and any folder of the machine would be bound there, with writing. The kernel says where a mount comes
 * from, and once it is made nobody can turn it round: so it is compared inside, and the command is
 * started only if every mount is its own place.
 *
 * @module
 */

import type { Guard } from "./workspace_guards.ts";

/**
 * `read` without a pipe, so that nothing is started for it. A place that is hidden shows a device or an
 * empty file system; every other one the folder or file of its own name in the workspace.
 */
const SCRIPT = `workspace=$1 hidden=$2 left=$3 base=
shift 3
while read -r _ _ _ root place _; do
  case $place in
  "$workspace") base=\${root%/} ;;
  "$workspace"/*)
    left=$((left - 1))
    own=$base\${place#"$workspace"}
    case $hidden in *"
$place
"*) case $root in /null | /) own=$root ;; *) own= ;; esac ;; esac
    [ "$root" = "$own" ] || left=-1000000 ;;
  esac
done </proc/self/mountinfo
if [ "$left" -ne 0 ]; then
  echo "the workspace changed while its sandbox was being made; nothing was run, try again" >&2
  exit 126
fi
unset workspace hidden left base root place own _
# Not every shell knows exec --, and to some a name that begins so is an option.
case $1 in -*) program=./$1; shift; set -- "$program" "$@"; unset program ;; esac
exec "$@"`;

/** Arguments between bwrap's and the command; none where there is nothing to compare. */
export function mountCheck(
  { workspace, guards }: { workspace: string; guards: readonly Guard[] },
): string[] {
  if (guards.length === 0) return [];
  const hidden = guards.filter(({ how }) => how === "hideFile" || how === "hideFolder")
    .map(({ path }) => `${escapeMount(path)}\n`).join("");
  return [
    "/bin/sh",
    "-c",
    SCRIPT,
    "sandbox",
    escapeMount(workspace),
    `\n${hidden}`,
    String(guards.length),
  ];
}

/** As the kernel writes names in /proc/self/mountinfo. */
function escapeMount(path: string): string {
  return path.replace(/[ \t\n\\]/g, (char) => {
    return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
}
