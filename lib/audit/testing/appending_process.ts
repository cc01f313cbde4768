/**
 * A process that appends until it is killed, and says on standard output which record is on the disk.
 * Arguments: the folder of the audit, that of the keys, bytes of a file, files that are kept.
 */

import { openAudit } from "../log.ts";

const [dir, keysDir, rotateBytes, keepFiles] = Deno.args;
const silent = () => {};
const audit = await openAudit({
  dir: dir!,
  keysDir: keysDir!,
  rotateBytes: Number(rotateBytes),
  keepFiles: Number(keepFiles),
  checkpointEvery: 5,
  log: { debug: silent, info: silent, warning: silent, error: silent },
});
const encoder = new TextEncoder();
while (true) {
  const records = await Promise.all(
    Array.from({ length: 3 }, (_, index) => audit.append("action.refused", { index })),
  );
  Deno.stdout.writeSync(encoder.encode(`${records.at(-1)!.seq}\n`));
}
