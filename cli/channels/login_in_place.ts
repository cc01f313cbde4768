/**
 * Logs an instance of a channel in, in a process with the permissions of that channel alone.
 *
 * @module
 */

import type { PlaceSource } from "../../lib/place/place_source.ts";
import type { ConfiguredChannels } from "../../lib/registry/place_source_of.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { noteLog } from "./note_log.ts";
import { openOwnPlaces } from "./open_own_places.ts";

/** Whether it is logged in then. What the channel says meanwhile goes to standard error. */
export async function loginInPlace(
  { configured, source, force }: {
    configured: ConfiguredChannels;
    source: PlaceSource;
    force: boolean;
  },
  globals: Globals,
  out: Output,
): Promise<boolean> {
  const places = openOwnPlaces({ configured, paths: homePaths(globals), log: noteLog(out) });
  try {
    return await places.login(source, force);
  } finally {
    await places.shutdown();
  }
}
