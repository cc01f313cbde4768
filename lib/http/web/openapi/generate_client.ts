/**
 * Writes `webui/api/operations.ts` anew: `deno task generate`.
 *
 * @module
 */

import { clientTypes } from "./client_types.ts";

if (import.meta.main) {
  const file = new URL("../../../../webui/api/operations.ts", import.meta.url);
  await Deno.writeTextFile(file, clientTypes());
}
