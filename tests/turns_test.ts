import { assert, assertEquals } from "@std/assert";
import { comparable, firstDifference } from "../lib/replay/compare.ts";
import { readRecording } from "../lib/replay/recording.ts";
import { replayTurn } from "../lib/replay/replay_turn.ts";

/** Turns of running services, each saved by `service sessions replay KEY --save FILE`. */
const TURNS = new URL("./turns/", import.meta.url);

const names = Array.from(Deno.readDirSync(TURNS), ({ name }) => name).sort();

Deno.test("there are recorded turns, and nothing else beside them", () => {
  assert(names.length >= 3);
  assertEquals(names.filter((name) => !/^[a-z0-9_]+\.json$/.test(name)), []);
});

for (const name of names) {
  Deno.test({
    name: `the turn of ${name} comes to the same events, and nothing is executed, sent or written`,
    permissions: { read: [TURNS], write: false, net: false, run: false, env: false, sys: false },
    async fn() {
      const recording = readRecording(await Deno.readTextFile(new URL(name, TURNS)));
      const difference = firstDifference(
        comparable(recording.events),
        await replayTurn(recording),
      );
      assertEquals(difference, undefined);
    },
  });
}
