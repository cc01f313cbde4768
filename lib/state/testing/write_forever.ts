/**
 * A process that changes the operators' state until it is killed; for tests. Says on standard output
 * what each change was that was confirmed to it.
 *
 * @module
 */

import { openOperatorState } from "../operator_state.ts";

const [dir, keysDir, name] = Deno.args as [string, string, string];
const state = await openOperatorState({ dir, keysDir });
for (let count = 0;; count++) {
  const sessionKey = `${name}:${count}`;
  if (count % 3 === 2) {
    await state.latches.clear(`${name}:${count - 1}`, "exec");
    Deno.stdout.writeSync(new TextEncoder().encode(`-${name}:${count - 1}\n`));
  } else {
    await state.latches.set({ sessionKey, capability: "exec", reason: "no" });
    Deno.stdout.writeSync(new TextEncoder().encode(`+${sessionKey}\n`));
  }
}
