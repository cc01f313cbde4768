/**
 * Which process listens on a port, as far as the system tells this user. `ss` and `lsof` are asked: Deno
 * opens nothing below /proc without every permission.
 *
 * @module
 */

/** Such as `nginx (process 812)`; undefined where it can't be known. */
export async function portOwner(port: number): Promise<string | undefined> {
  const ss = await run("ss", ["-Hltnp", `sport = :${port}`]);
  const ofSs = /\(\("(?<name>[^"]+)",pid=(?<pid>\d+)/.exec(ss);
  if (ofSs !== null) return shown(ofSs);
  const lsof = await run("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"]);
  const ofLsof = /^p(?<pid>\d+)\nc(?<name>.+)$/m.exec(lsof);
  return ofLsof === null ? undefined : shown(ofLsof);
}

function shown({ groups }: RegExpExecArray): string {
  return `${groups!.name} (process ${groups!.pid})`;
}

/** What a program prints; nothing where it isn't installed. */
async function run(program: string, args: string[]): Promise<string> {
  try {
    const command = new Deno.Command(program, { args, stdin: "null", stderr: "null" });
    return new TextDecoder().decode((await command.output()).stdout);
  } catch {
    return "";
  }
}
