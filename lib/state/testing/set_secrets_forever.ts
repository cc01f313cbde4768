/**
 * A process that sets and removes secrets until it is killed; for tests. Says on standard output when it
 * begins, and then what each change was that was confirmed to it: the name, and the value or nothing.
 *
 * @module
 */

import { openOperatorState } from "../operator_state.ts";

const [dir, keysDir, writer] = Deno.args as [string, string, string];
const say = (text: string) => Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
const state = await openOperatorState({ dir, keysDir });
say("begins");
for (let count = 0;; count++) {
  const name = `${writer}_${count % 3}`;
  if (count % 5 === 4) {
    await state.secrets.remove(name);
    say(`${name}=`);
  } else {
    const value = `value-${String(count).padStart(6, "0")}`;
    await state.secrets.set({ name, value });
    say(`${name}=${value}`);
  }
}
