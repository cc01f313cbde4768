/**
 * The parts of an `mxc:` address; undefined for what is none (client-server API, "Matrix Content URIs").
 * No name of a server begins with a dot, and one of dots alone would lead to another path.
 */
export function matchMxc(address: string): { server: string; id: string } | undefined {
  const [, server, id] =
    /^mxc:\/\/((?!\.)[A-Za-z0-9.:[\]-]{1,255})\/([A-Za-z0-9_-]{1,255})$/.exec(address) ??
      [];
  return server === undefined || id === undefined ? undefined : { server, id };
}
