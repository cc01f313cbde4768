/**
 * Writes so many lines to a log that others write too.
 *
 * @module
 */

import { rotatedLog } from "../rotated_log.ts";

const [path, count] = Deno.args;
const log = rotatedLog(path!, {
  maxBytes: 1_000,
  maxAgeMs: 0,
  keepFiles: 1_000,
  compress: false,
});
for (let line = 0; line < Number(count); line++) {
  await log.write(new TextEncoder().encode(`child ${line}\n`));
}
