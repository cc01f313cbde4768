/** Verifies an audit at least 40 times, and until its first file was pruned; prints what it found. */

import { findTrustedKeys } from "../trusted_keys.ts";
import { verifyAudit } from "../verify.ts";

const [dir, keysDir] = Deno.args;
const { keys } = await findTrustedKeys({ dir: dir!, keysDir: keysDir! });
let found = "ok";
let isPruned = false;
for (let round = 0; found === "ok" && (round < 40 || !isPruned); round++) {
  const finding = await verifyAudit({ dir: dir!, keysDir: keysDir!, keys });
  if (finding.ok) isPruned = finding.first > 1;
  else found = finding.message;
}
Deno.stdout.writeSync(new TextEncoder().encode(`${found}\n`));
