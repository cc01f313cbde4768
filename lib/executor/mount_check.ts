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
 * empty file system; every other one the folder or file of its own name in the workspace. Mounts that
 * the workspace had before are nobody's guard.
 */
const SCRIPT = `workspace=$1 hidden=$2 shown=$3 left=$4 ends=$5 base=
shift 5
while read -r _ _ _ root place _; do
  case $place in
  "$workspace") base=\${root%/} ;;
  "$workspace"/*)
    case $hidden in *"
$place
"*)
      left=$((left - 1))
      case $root in /null | /) ;; *) left=-1000000 ;; esac ;;
    esac
    case $shown in *"
$place
"*)
      left=$((left - 1))
      [ "$root" = "$base\${place#"$workspace"}" ] || left=-1000000 ;;
    esac ;;
  *) [ -z "$ends" ] || [ -z "$base" ] || break ;;
  esac
done </proc/self/mountinfo
if [ "$left" -ne 0 ]; then
  echo "the workspace changed while its sandbox was being made; nothing was run, try again" >&2
  exit 126
fi
unset workspace hidden shown left ends base root place _
# Not every shell knows exec --, and to some a name that begins so is an option.
case $1 in -*/*) program=./$1; shift; set -- "$program" "$@"; unset program ;; esac
`;

/** What a shell's script begins with, and what its arguments begin with, which it takes away. */
export interface MountCheck {
  /** Empty where there is nothing to compare. */
  script: string;
  args: string[];
}

/** For the first shell in the sandbox: it goes on only if everything is its own place. */
export function mountCheck(
  { workspace, guards, isFirst = false }: {
    workspace: string;
    guards: readonly Guard[];
    /**
     * All mounts of the workspace, its own and guards, come one after the other, and then the system alone:
     * that is not read, as a shell takes 50 µs a line.
     */
    isFirst?: boolean;
  },
): MountCheck {
  if (guards.length === 0) return { script: "", args: [] };
  const isHidden = ({ how }: Guard) => how === "hideFile" || how === "hideFolder";
  const lines = (some: readonly Guard[]) =>
    `\n${some.map(({ path }) => `${escapeMount(path)}\n`).join("")}`;
  const args = [
    escapeMount(workspace),
    lines(guards.filter(isHidden)),
    lines(guards.filter((guard) => !isHidden(guard))),
    String(guards.length),
    isFirst ? "ends" : "",
  ];
  return { script: SCRIPT, args };
}

/** As the kernel writes names in /proc/self/mountinfo. */
export function escapeMount(path: string): string {
  return path.replace(/[ \t\n\\]/g, (char) => {
    return `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
}
