/**
 * Writes `config.schema.json` at the top of the repository: `deno task generate`.
 *
 * @module
 */

import { configJsonSchemaText } from "./json_schema.ts";

if (import.meta.main) {
  await Deno.writeTextFile(
    new URL("../../config.schema.json", import.meta.url),
    configJsonSchemaText(),
  );
}
