/**
 * What each server offered when it was last connected, kept in the home's folder `mcp/`, so that a turn
 * does not wait for a server that was seen before. Only a memory: what is missing or damaged is found
 * out anew.
 *
 * @module
 */

import { writeFileAtomic } from "../base/atomic_write.ts";
import { makePrivateDir } from "../base/private_dir.ts";
import type { Log } from "../base/log.ts";
import type { RawListing } from "./read_listing.ts";

/** Version of the files. */
const VERSION = 1;
/** A larger one is not kept, and not read. */
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** What is kept of a server. */
export interface CatalogEntry extends RawListing {
  /** What it says that it is. */
  about: string;
}

/** Keeps the lists of servers. */
export interface Catalog {
  /** What was kept for this configuration of a server. Never throws. */
  read(server: string, configDigest: string): CatalogEntry | undefined;
  /** Keeps it; that it could not is logged. */
  write(server: string, configDigest: string, entry: CatalogEntry): Promise<void>;
}

/** The catalog of a folder, which is made when something is first kept. */
export function openCatalog({ dir, log }: { dir: string; log: Log }): Catalog {
  const fileOf = (server: string) => `${dir}/${server}.json`;
  return {
    read(server, configDigest) {
      try {
        const file = fileOf(server);
        if (Deno.statSync(file).size > MAX_FILE_BYTES) return undefined;
        const value = JSON.parse(Deno.readTextFileSync(file));
        return isEntry(value) && value.v === VERSION && value.config === configDigest
          ? value
          : undefined;
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) {
          log.warning("What an MCP server offered last cannot be read; it is asked anew", {
            server,
            reason: String(error),
          });
        }
        return undefined;
      }
    },
    async write(server, configDigest, { about, tools, resources, prompts }) {
      const kept = { v: VERSION, config: configDigest, about, tools, resources, prompts };
      const text = JSON.stringify(kept);
      try {
        if (text.length > MAX_FILE_BYTES / 4) throw new RangeError("it is too large");
        await makePrivateDir(dir);
        await writeFileAtomic(fileOf(server), text, { mode: 0o600 });
      } catch (error) {
        log.warning("What an MCP server offers cannot be kept for the next start", {
          server,
          reason: String(error),
        });
      }
    },
  };
}

function isEntry(value: unknown): value is CatalogEntry & { v: number; config: string } {
  if (typeof value !== "object" || value === null) return false;
  const { about, tools, resources, prompts } = value as Record<string, unknown>;
  return typeof about === "string" && [tools, resources, prompts].every(Array.isArray);
}
