/**
 * The launcher: a small shell script on the PATH that starts this program from any folder.
 *
 * Imports no packages: what a start from source loads first needs it.
 *
 * @module
 */

/** What a launcher starts. */
export interface LauncherOf {
  /** Folder of the checkout or of the built form, without a slash at its end. */
  root: string;
  /** The deno that installed it. */
  deno: string;
  /** What deno is given, as the shell reads it; `$root` stands for the folder. */
  args: string;
}

/** By this line a launcher is known. */
const MARK = "# Starts service. Written by: deno task install";

/**
 * Says what people type to reach a script: its path as they wrote it, unless the PATH leads to it. A unit
 * or a container that starts it knows better, and has said so.
 */
export const SAY_TYPED_AS = `case $0 in *[!A-Za-z0-9_./+-]*) typed="'$0'" ;; *) typed=$0 ;; esac
[ "$(command -v service)" = "$0" ] && typed=service
export SERVICE_COMMAND="\${SERVICE_COMMAND:-$typed}"
`;

/** Its text. */
export function launcherText({ root, deno, args }: LauncherOf): string {
  return `#!/bin/sh
${MARK}
root=${quoted(root)}
deno=${quoted(deno)}
[ -x "$deno" ] || deno=deno
if [ ! -d "$root" ]; then
  echo "error: $root is gone. Run deno task install in the folder where the program is now." >&2
  exit 1
fi
${SAY_TYPED_AS}exec "$deno" ${args} "$@"
`;
}

/** Whether a text is that of a launcher. */
export function isLauncher(text: string): boolean {
  return text.includes(`\n${MARK}\n`);
}

/** The folder that a launcher starts; undefined for any other text. */
export function fromRoot(text: string): string | undefined {
  const root = isLauncher(text) ? /^root='(.*)'$/m.exec(text)?.[1] : undefined;
  return root?.replaceAll(`'\\''`, "'");
}

/** As one word of the shell, whatever is in it. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
