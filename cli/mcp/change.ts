/**
 * `service mcp add` and `remove`: changes of `mcp.servers` in the configuration.
 *
 * @module
 */

import { ServiceError } from "../../lib/base/errors.ts";
import { valueAt } from "../../lib/base/key_path.ts";
import { nearest } from "../../lib/base/nearest.ts";
import { examine } from "../../lib/settings/examine.ts";
import { readConfig } from "../../lib/settings/load.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import type { ConfigDeps } from "../config/deps.ts";
import { set } from "../config/set.ts";

/** Adds a server. Throws `conflict` for a name that is taken. */
export async function addServer(
  { args: [name, ...command], options, globals, out }: Invocation,
  deps: ConfigDeps,
): Promise<ExitCode> {
  const url = options["url"] as string | undefined;
  if ((url === undefined) === (command.length === 0)) {
    throw usage(
      `service mcp add ${name} needs a command or an address: ` +
        `service mcp add ${name} -- COMMAND, or service mcp add ${name} --url URL`,
    );
  }
  for (const [option, needs] of [["header", url], ["env", command[0]], ["cwd", command[0]]]) {
    if (options[option!] === undefined || needs !== undefined) continue;
    const other = option === "header" ? "--url" : "a command";
    throw usage(`Option --${option} is for a server with ${other}`, option);
  }
  if (Object.hasOwn(await servers(deps), name!)) {
    throw new ServiceError(
      "conflict",
      `The MCP server ${name} is there already. Remove it first with: service mcp remove ${name}`,
      { param: "NAME" },
    );
  }
  const headers = pairs(options["header"], "header", /^([^:\s]+):\s*(.*)$/s, "'Name: value'");
  if (Object.values(headers).some((value) => !value.includes("${"))) {
    out.note(
      "Shells keep what is typed in their history. Keep a key with service secrets set NAME and write " +
        "'${secret:NAME}' in the header",
    );
  }
  const env = pairs(options["env"], "env", /^([^=]+)=(.*)$/s, "NAME=value");
  const server = {
    ...url === undefined ? { command } : { url },
    ...options["cwd"] !== undefined && { cwd: options["cwd"] },
    ...Object.keys(headers).length > 0 && { headers },
    ...Object.keys(env).length > 0 && { env },
  };
  await set({
    key: keyOf(name!),
    value: JSON.stringify(server),
    unset: false,
    json: globals.json,
    out,
  }, deps);
  if (!globals.json) out.note(`Try it: service mcp test ${name}`);
  return EXIT.done;
}

/** Removes a server. Throws `not_found`, naming the nearest one. */
export async function removeServer(
  { args: [name], globals, out }: Invocation,
  deps: ConfigDeps,
): Promise<ExitCode> {
  const known = Object.keys(await servers(deps));
  if (!known.includes(name!)) {
    const near = nearest(name!, known);
    const hint = near === undefined
      ? known.length === 0 ? "No servers are configured" : `Known servers: ${known.join(", ")}`
      : `Did you mean ${near}?`;
    throw new ServiceError("not_found", `No MCP server named ${JSON.stringify(name)}. ${hint}`, {
      param: "NAME",
    });
  }
  await set(
    { key: keyOf(name!), value: undefined, unset: true, json: globals.json, out },
    deps,
  );
  return EXIT.done;
}

/** As the file has them, also where one of them is wrong. */
async function servers(deps: ConfigDeps): Promise<Record<string, unknown>> {
  const { text } = await readConfig(deps);
  const { canonical } = examine({ ...deps, text });
  return valueAt(canonical, ["mcp", "servers"]) as Record<string, unknown> | undefined ?? {};
}

function keyOf(name: string): string {
  if (/^[a-z][a-z0-9-]{0,31}$/.test(name)) return `mcp.servers["${name}"]`;
  throw usage(
    `Invalid name for an MCP server: ${JSON.stringify(name)}. ` +
      "Use a-z, 0-9 and -, starting with a letter, at most 32 characters",
    "NAME",
  );
}

/** Never repeats a value: it may be a key. */
function pairs(
  typed: Invocation["options"][string],
  option: string,
  form: RegExp,
  expected: string,
): Record<string, string> {
  return Object.fromEntries(
    (typed as string[] | undefined ?? []).map((text) => {
      const match = form.exec(text);
      if (match === null) throw usage(`Invalid --${option}: expected ${expected}`, option);
      return [match[1]!, match[2]!];
    }),
  );
}

function usage(message: string, param?: string): ServiceError {
  return new ServiceError("usage", message, { param });
}
