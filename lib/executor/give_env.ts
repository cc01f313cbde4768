/**
 * How values reach the environment of a program in the sandbox: not in an argv, which every user of the
 * machine can read, and not under their own names before the sandbox stands, as a name such as
 * LD_PRELOAD or PATH means something to the programs outside too.
 *
 * @module
 */

/** What a variable may be called. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PREFIX = "SERVICE_GIVEN_";

/** Variables up to `--`; nothing here has a name of its own that one of them could have too. */
const SCRIPT = `while [ "$1" != -- ]; do
  eval "export $1=\\"\\\${${PREFIX}$1}\\"; unset ${PREFIX}$1"
  shift
done
shift
exec "$@"`;

/** The environment of the program that makes the sandbox. Throws on a name that is none. */
export function givenEnv(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => {
      if (!NAME.test(name)) throw new Error(`"${name}" is no name of a variable`);
      if (value.includes("\0")) throw new Error(`the variable ${name} holds a NUL`);
      return [PREFIX + name, value];
    }),
  );
}

/** What goes before a command line in the sandbox, so that it has the variables under their names. */
export function giveEnv(names: readonly string[]): string[] {
  return names.length === 0 ? [] : ["/bin/sh", "-c", SCRIPT, "sh", ...names, "--"];
}
