import { assert, assertEquals } from "@std/assert";
import { tempState } from "./testing/temp_state.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const WRITER = new URL("testing/write_forever.ts", import.meta.url).pathname;

Deno.test("G11 no kill -9 of processes that write at once damages the state or loses what was confirmed", async () => {
  await using temp = await tempState();
  const latched = new Set<string>();
  for (let round = 0; round < rounds(6, 3); round++) {
    const writers = ["a", "b"].map((name) => {
      const child = new Deno.Command(Deno.execPath(), {
        args: [
          "run",
          "-A",
          "--cached-only",
          ...lockedFlags(),
          "-q",
          WRITER,
          temp.dir,
          temp.keysDir,
          `${name}${round}`,
        ],
        stdin: "null",
        stdout: "piped",
        stderr: "inherit",
      }).spawn();
      return { child, confirmed: confirmedLines(child, 4 + 5 * round) };
    });
    const last: string[] = [];
    for (const { child, confirmed } of writers) {
      const lines = await confirmed;
      await child.status;
      for (const line of lines) {
        if (line.startsWith("+")) latched.add(line.slice(1));
        else latched.delete(line.slice(1));
      }
      last.push(lines.at(-1)!);
    }

    const state = await temp.open({ audit: undefined });
    assertEquals(state.damaged(), undefined);
    const found = new Set(state.latches.list().map(({ sessionKey }) => sessionKey));
    // The change that was under way when its process died may have been made or not.
    const open = new Set(last.flatMap(next));
    for (const key of latched) assert(found.has(key) || open.has(key), `${key} is lost`);
    for (const key of found) {
      assert(latched.has(key) || open.has(key), `${key} came from nowhere`);
      latched.add(key);
    }
    for (const key of open) if (!found.has(key)) latched.delete(key);
    for (const dir of [temp.dir, temp.keysDir]) {
      for await (const { name } of Deno.readDir(dir)) assert(!name.endsWith(".tmp"), name);
    }
    await state.close();
  }
  const state = await temp.open();
  await state.close();
  const counts = Map.groupBy(temp.records, ({ kind }) => kind);
  const [set, cleared] = [counts.get("latch.set")!.length, counts.get("latch.cleared")!.length];
  assertEquals(set - cleared, latched.size, "every change is on record, once");
});

/** What a writer was told, up to its death: it is killed when it has said `most` lines. */
async function confirmedLines(child: Deno.ChildProcess, most: number): Promise<string[]> {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n").length > most) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It is dead already.
      }
    }
  }
  return text.split("\n").slice(0, -1);
}

/** The key that the change after this one is about. */
function next(line: string): string[] {
  const [, name, count] = /^[+-](\w+):(\d+)$/.exec(line)!;
  // After a clear comes the next number but one, for the clear was about the number before its own.
  return line.startsWith("-")
    ? [`${name}:${Number(count) + 2}`]
    : [`${name}:${Number(count) + 1}`, `${name}:${Number(count)}`];
}
