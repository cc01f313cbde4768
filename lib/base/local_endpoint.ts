/**
 * What the local socket of a home is on a platform.
 *
 * @module
 */

/** How a home is reached. `file` is the socket, or the file with port and key. */
export type Endpoint = { kind: "unix"; file: string } | { kind: "tcp"; file: string };

/** The endpoint for the path that the home has for it. */
export function endpointAt(file: string, os = Deno.build.os): Endpoint {
  return os === "windows" ? { kind: "tcp", file: `${file}.json` } : { kind: "unix", file };
}

/** What may be listened on there, as Deno's permissions name it: any free port is port 0. */
export function endpointHost({ kind, file }: Endpoint): string {
  return kind === "unix" ? `unix:${file}` : "127.0.0.1:0";
}
