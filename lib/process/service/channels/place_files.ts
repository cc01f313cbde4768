/**
 * Files of messages for channels: copies in the channel's own folder, the only one that its worker reads,
 * for as long as the message is being sent.
 *
 * @module
 */

import { basename, join } from "@std/path";
import { PermanentDeliveryError } from "../../../channel/delivery_error.ts";
import type { PlaceFiles } from "../../../delivery/file_place.ts";
import { channelStateDir } from "../../../base/state_dir.ts";
import type { Log } from "../../../base/log.ts";
import type { MediaStore } from "../../../media/types.ts";

/** Folder of the copies, in that of a channel. */
const FOLDER = "outgoing";

/** What it works with. */
export interface PlaceFilesDeps {
  media: Pick<MediaStore, "read">;
  /** Where the folders of channels are. */
  dataDir: string;
  randomId: () => string;
  log: Log;
}

/** Makes it. What a crash has left of a channel goes before its next file comes. */
export function createPlaceFiles(
  { media, dataDir, randomId, log }: PlaceFilesDeps,
): PlaceFiles {
  const tidied = new Set<string>();

  return async (runtimeName, files) => {
    const folder = join(channelStateDir(dataDir, runtimeName), FOLDER);
    if (!tidied.has(runtimeName)) {
      tidied.add(runtimeName);
      await Deno.remove(folder, { recursive: true }).catch(ignoreMissing);
    }
    const own = join(folder, randomId());
    const remove = async () => {
      await Deno.remove(own, { recursive: true }).catch((error) => {
        if (error instanceof Deno.errors.NotFound) return;
        log.warning("A file that was sent could not be removed; the next start does that", {
          channel: runtimeName,
          reason: String(error),
        });
      });
    };
    await Deno.mkdir(own, { recursive: true, mode: 0o700 });
    try {
      const paths: string[] = [];
      for (const [at, { name, path }] of files.entries()) {
        const bytes = await media.read(basename(path));
        if (bytes === undefined) {
          throw new PermanentDeliveryError(`The file ${name} is gone, and nothing was sent`);
        }
        // Two files may have one name.
        const place = join(own, String(at));
        await Deno.mkdir(place, { mode: 0o700 });
        paths.push(join(place, basename(name)));
        await Deno.writeFile(paths.at(-1)!, bytes, { createNew: true, mode: 0o600 });
      }
      return { paths, remove };
    } catch (error) {
      await remove();
      throw error;
    }
  };
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
