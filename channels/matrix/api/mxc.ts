/** The parts of an `mxc:` address; undefined for what is none (client-server API, "Matrix Content URIs"). */
export function matchMxc(address: string): { server: string; id: string } | undefined {
  const [, server, id] =
    /^mxc:\/\/([A-Za-z0-9.:[\]-]{1,255})\/([A-Za-z0-9_-]{1,255})$/.exec(address) ??
      [];
  return server === undefined || id === undefined ? undefined : { server, id };
}
