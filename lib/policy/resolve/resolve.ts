/**
 * From what a tool's arguments name to what they really are: a real path, a
 * URL's host and port. What cannot be resolved for sure is unresolved, and never allowed.
 *
 * Addresses of a host are looked up by a child, since no code of the authority opens a connection.
 *
 * @module
 */

import { dirname, isAbsolute, join, normalize, relative, SEPARATOR } from "@std/path";
import ipaddr from "ipaddr.js";
import type { PathTarget, UnresolvedTarget, UrlTarget } from "../../contract/actions.ts";

/** Longest path and longest name, bytes: what Linux takes. */
const MAX_PATH_BYTES = 4_096;
const MAX_NAME_BYTES = 255;
/** Longest URL, characters. */
const MAX_URL_CHARS = 8_192;
/** Names as resolvers know them, after the URL standard has made them ASCII, and addresses. */
const HOST = /^(?:[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*|[0-9a-f:.]+)$/;
/** Longest host name, characters (RFC 1035). */
const MAX_HOST_CHARS = 253;

/** A workspace by the path it was configured with and by its real one. */
export interface Workspace {
  path: string;
  real: string;
}

/** What a path is, seen from the workspace. */
export async function resolvePath(
  path: string,
  access: "read" | "write",
  workspace: Workspace,
): Promise<PathTarget | UnresolvedTarget> {
  const unresolved = (reason: string): UnresolvedTarget => ({
    kind: "unresolved",
    what: path.slice(0, 200),
    reason,
  });
  const problem = pathProblem(path);
  if (problem !== undefined) return unresolved(problem);
  const given = isAbsolute(path) ? normalize(path) : join(workspace.path, path);
  const absolute = given.length > 1 ? given.replace(/[/\\]+$/, "") || SEPARATOR : given;
  const start = insideWorkspace(absolute, workspace) ?? absolute;
  try {
    const { existing, rest, viaLink } = await walk(start, workspace);
    const real = await Deno.realPath(existing);
    const info = await Deno.stat(real);
    if (!info.isFile && !info.isDirectory) return unresolved("it is neither a file nor a folder");
    if (rest.length > 0) {
      if (!info.isDirectory) return unresolved(`"${real}" is a file, not a folder`);
      const folder = { real, dev: info.dev, ino: info.ino ?? 0 };
      return { kind: "path", access, path: absolute, real: join(real, ...rest), viaLink, folder };
    }
    const above = info.isDirectory ? real : dirname(real);
    const folderInfo = info.isDirectory ? info : await Deno.stat(above);
    return {
      kind: "path",
      access,
      path: absolute,
      real,
      viaLink,
      file: {
        isDirectory: info.isDirectory,
        dev: info.dev,
        ino: info.ino ?? 0,
        links: info.nlink ?? 1,
      },
      folder: { real: above, dev: folderInfo.dev, ino: folderInfo.ino ?? 0 },
    };
  } catch (error) {
    return unresolved(pathFailure(error));
  }
}

/**
 * What a URL names, without its addresses; those of an IP literal are itself. `headers` are added to the
 * request.
 */
export function resolveUrl(
  text: string,
  headers: Readonly<Record<string, string>> = {},
): UrlTarget | UnresolvedTarget {
  const unresolved = (reason: string): UnresolvedTarget => ({
    kind: "unresolved",
    what: text.slice(0, 200),
    reason,
  });
  if (text.length > MAX_URL_CHARS) {
    return unresolved(`it is longer than ${MAX_URL_CHARS} characters`);
  }
  const url = URL.parse(text);
  if (url === null) return unresolved("it is no absolute URL");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return unresolved(`its scheme is "${url.protocol.slice(0, -1)}", expected http or https`);
  }
  // What stands before an @ is read as the host by people, and never is.
  if (url.username !== "" || url.password !== "") {
    return unresolved("it holds a user name or password");
  }
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "") return unresolved("it has no host");
  // URLs take a comma or an asterisk there; a list of permissions would take it for more than a name.
  if (host.length > MAX_HOST_CHARS || !HOST.test(host)) {
    return unresolved("its host is no name and no address");
  }
  url.hash = "";
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const addresses = ipaddr.isValid(host) ? [host] : [];
  const more = Object.keys(headers).length === 0 ? {} : { headers };
  return { kind: "url", url: url.href, host, port, addresses, ...more };
}

function pathProblem(path: string): string | undefined {
  if (path.trim() === "") return "it is blank";
  if (path.includes("\0")) return "it holds a NUL";
  if (!path.isWellFormed()) return "it holds half of a character";
  const encoder = new TextEncoder();
  if (encoder.encode(path).length > MAX_PATH_BYTES) {
    return `it is longer than ${MAX_PATH_BYTES} bytes`;
  }
  for (const name of path.split("/")) {
    if (name.length > MAX_NAME_BYTES / 3 && encoder.encode(name).length > MAX_NAME_BYTES) {
      return `a name in it is longer than ${MAX_NAME_BYTES} bytes`;
    }
  }
}

/**
 * The path below the real workspace, if it is below the workspace by either of its names. A link on
 * the way to the workspace itself is the operator's own.
 */
function insideWorkspace(absolute: string, workspace: Workspace): string | undefined {
  for (const root of [workspace.real, workspace.path]) {
    const below = relative(root, absolute);
    if (below !== ".." && !below.startsWith(`..${SEPARATOR}`) && !isAbsolute(below)) {
      return join(workspace.real, below);
    }
  }
}

/** Follows a path name by name: how far it exists, and whether a link is on the way. */
async function walk(
  path: string,
  workspace: Workspace,
): Promise<{ existing: string; rest: string[]; viaLink: boolean }> {
  const inside = path === workspace.real || path.startsWith(workspace.real + SEPARATOR);
  // A workspace that is not made yet is missing like any other folder.
  let existing = inside && await exists(workspace.real) ? workspace.real : rootOf(path);
  const names = path.slice(existing.length).split(SEPARATOR).filter((name) => name !== "");
  let viaLink = false;
  for (const [index, name] of names.entries()) {
    const next = join(existing, name);
    let info: Deno.FileInfo;
    try {
      info = await Deno.lstat(next);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      return { existing, rest: names.slice(index), viaLink };
    }
    // A link that leads nowhere fails when its real path is asked for: it does not count as missing.
    if (info.isSymlink) viaLink = true;
    existing = next;
  }
  return { existing, rest: [], viaLink };
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, (error) => {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  });
}

function rootOf(path: string): string {
  let root = path;
  while (dirname(root) !== root) root = dirname(root);
  return root;
}

function pathFailure(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "a link in it leads to nothing";
  if (error instanceof Deno.errors.PermissionDenied) return "it may not be looked at";
  // Deno refuses the kernel's folders in words that would tell a model to ask for all permissions.
  if (error instanceof Deno.errors.NotCapable) {
    return "it belongs to the kernel, and no tool may touch it";
  }
  if (error instanceof Deno.errors.NotADirectory) return "a file stands where a folder is expected";
  if (error instanceof Deno.errors.FilesystemLoop) return "its links go in a circle";
  return error instanceof Error ? error.message : String(error);
}
