/**
 * Writes the tables of `docs/websocket.md` and `docs/websocket.schema.json` anew: `deno task generate`.
 *
 * @module
 */

import { wireJsonSchemaText, withWireTables } from "./wire_docs.ts";

if (import.meta.main) {
  const docs = new URL("../../../docs/", import.meta.url);
  const page = new URL("websocket.md", docs);
  await Deno.writeTextFile(page, withWireTables(await Deno.readTextFile(page)));
  await Deno.writeTextFile(new URL("websocket.schema.json", docs), wireJsonSchemaText());
}
