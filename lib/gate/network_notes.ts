/**
 * What a model is told beside a command's output when it did not reach a host: programs say of a proxy
 * that refuses no more than "403", and of a missing network that a name cannot be found.
 *
 * @module
 */

import { joinHostPort } from "../base/host_pattern.ts";
import { DEFAULT_PORTS, type NetworkRefusal } from "../executor/network/network_judge.ts";

/** How programs say that a name has no address; a few of the last bytes are looked at. */
const NO_NAME =
  /could not resolve host|temporary failure in name resolution|name or service not known|EAI_AGAIN|ENOTFOUND|unable to resolve host|dns error/i;
const MAX_LOOKED_AT_CHARS = 20_000;

/** Of all notes: the rest of a small result is for what the command printed. */
const MAX_NOTES_CHARS = 500;

/** Lines for a command that was given hosts; `output` is what it printed. */
export function refusalNotes(refusals: readonly NetworkRefusal[], output: string): string[] {
  if (refusals.length === 0) {
    // A program that knows no proxy finds the names alone that it was given.
    return NO_NAME.test(output.slice(-MAX_LOOKED_AT_CHARS))
      ? ["this command reached no other hosts than it named in hosts"]
      : [];
  }
  let chars = 0;
  const notes = refusals.map(({ host, port, reason, isUnlisted }) => {
    const named = DEFAULT_PORTS.includes(port) && !host.includes(":")
      ? host
      : joinHostPort(host, port);
    const advice = isUnlisted ? `; ask with hosts: [${JSON.stringify(named)}]` : "";
    return `no connection to ${joinHostPort(host, port)}: ${reason}${advice}`;
  });
  return notes.filter((note) => (chars += note.length) <= MAX_NOTES_CHARS);
}

/** Lines for a command that was given none. */
export function noNetworkNotes(output: string): string[] {
  return NO_NAME.test(output.slice(-MAX_LOOKED_AT_CHARS))
    ? ["this command had no network: name the hosts that it has to reach in hosts"]
    : [];
}
