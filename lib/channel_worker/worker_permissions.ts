/**
 * What the worker of a channel may touch: what its manifest names, its own folder, and the modules that it
 * loads. `service permissions` prints it, and the process is started with exactly this.
 *
 * @module
 */

import { fromFileUrl, isAbsolute, join, normalize } from "@std/path";
import { withoutCredentials } from "../base/without_credentials.ts";
import { ServiceError } from "../base/errors.ts";
import type { ChannelPermissions } from "../channel/descriptor.ts";
import { isWildcardHost } from "../base/wildcard_host.ts";
import type { Permission } from "../base/permission.ts";
import { IS_BUILT, sourcePaths } from "../base/layout.ts";

/** Whose permissions they are. */
export interface WorkerOwner {
  runtimeName: string;
  /** Placeholders filled in. */
  permissions: ChannelPermissions;
  stateDir: string;
  /** URL of the module that it loads. */
  module: string;
}

/** A name or an address, and maybe a port: no range, which Deno would take too. */
const HOST = /^(?:[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?$/;

/** What a host may be. */
const EXPECTED_HOST =
  "<host> or <host>:<port>, with IPv6 in brackets, or *.<domain> with a domain of two labels or more";

/** Characters of what is wrong. */
const MAX_SHOWN = 300;

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The permissions, in a fixed order. Throws `config_invalid` for a host, path or variable that is more
 * than one, as a setting may stand in it.
 */
export function channelWorkerPermissions(
  { runtimeName, permissions, stateDir, module }: WorkerOwner,
): Permission[] {
  const askedBy = `channels.${runtimeName}`;
  const wrong = (what: string, value: string, expected: string) =>
    new ServiceError(
      "config_invalid",
      `Cannot use ${askedBy}: it asks for the ${what} ${
        JSON.stringify(withoutCredentials(value).slice(0, MAX_SHOWN))
      }, expected ${expected}`,
      { param: askedBy },
    );
  const table: Permission[] = [];
  for (const value of new Set(permissions.hosts)) {
    if (!isHost(value) && !isWildcardHost(value)) throw wrong("host", value, EXPECTED_HOST);
    table.push({ kind: "net", value, askedBy });
  }
  const own = URL.parse("./", module);
  const sources = [
    ...sourcePaths(["lib/"], { shares: true }),
    ...own?.protocol === "file:" && !IS_BUILT ? [fromFileUrl(own)] : [],
  ];
  const read = [stateDir, ...permissions.paths, ...sources];
  for (const value of new Set(read)) {
    if (!isAbsolute(value) || value.includes("\0")) throw wrong("path", value, "an absolute path");
    table.push({ kind: "read", value, askedBy });
  }
  table.push({ kind: "write", value: stateDir, askedBy });
  for (const value of new Set(permissions.variables)) {
    if (!VARIABLE.test(value)) throw wrong("variable", value, "the name of one");
    table.push({ kind: "env", value, askedBy });
  }
  return table;
}

/**
 * Makes sure that no path of a manifest or a setting leads into the folders of the home, by any link.
 * Throws `config_invalid`.
 */
export async function checkWorkerPaths(
  { runtimeName, permissions }: Pick<WorkerOwner, "runtimeName" | "permissions">,
  forbidden: readonly string[],
): Promise<void> {
  const closed = await Promise.all(forbidden.map(realPath));
  for (const path of permissions.paths) {
    const real = await realPath(path).catch((cause) => {
      const shown = JSON.stringify(path.slice(0, MAX_SHOWN));
      throw new ServiceError(
        "config_invalid",
        `Cannot use channels.${runtimeName}: it asks to read ${shown}, and nobody can tell where that ` +
          "leads; expected another path",
        { param: `channels.${runtimeName}` },
        { cause },
      );
    });
    if (closed.some((folder) => contains(folder, real) || contains(real, folder))) {
      throw new ServiceError(
        "config_invalid",
        `Cannot use channels.${runtimeName}: it asks to read ${JSON.stringify(path)}, ` +
          "which leads to the service's own files; expected another path",
        { param: `channels.${runtimeName}` },
      );
    }
  }
}

function isHost(value: string): boolean {
  const [, port] = HOST.exec(value) ?? [undefined, "-1"];
  return Number(port ?? 0) >= 0 && Number(port ?? 0) <= 65_535;
}

function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Of what is not there, that of the nearest folder that is. */
async function realPath(path: string): Promise<string> {
  const plain = normalize(path).replace(/(?<=.)\/$/, "");
  try {
    return await Deno.realPath(plain);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    const at = plain.lastIndexOf("/");
    return at <= 0 ? plain : join(await realPath(plain.slice(0, at)), plain.slice(at + 1));
  }
}
