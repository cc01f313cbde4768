import { assert, assertEquals } from "@std/assert";
import { tempState } from "./testing/temp_state.ts";
import { rounds } from "../../tests/support/rounds.ts";
import { lockedFlags } from "../packages/locked_packages.ts";

const WRITER = new URL("testing/set_secrets_forever.ts", import.meta.url).pathname;

Deno.test("no kill -9 in a set damages secrets or their key, or loses a value that was confirmed", async () => {
  // The first of them are killed while they make the key.
  for (const most of [1, 12, 3, 1, 2, 7].slice(0, rounds(6, 3))) {
    await using temp = await tempState();
    const confirmed = new Map<string, string>();
    const names: string[] = [];
    for (const round of ["R", "S"]) {
      const writers = ["A", "B"].map((name) => runWriter(temp, `${name}${round}`, most));
      for (const lines of await Promise.all(writers)) {
        for (const [name, value] of lines.slice(1)) confirmed.set(name, value);
      }
      names.push(...["A", "B"].flatMap((name) => [0, 1, 2].map((at) => `${name}${round}_${at}`)));
    }
    const state = await temp.open({ audit: undefined });
    assertEquals(state.secrets.damaged(), undefined);
    const found = new Map(state.secrets.revealAll().map(({ name, value }) => [name, value]));
    let different = 0;
    for (const name of names) {
      const [is, was] = [found.get(name), confirmed.get(name) || undefined];
      if (is === was) continue;
      // What was under way when its process died may have been done or not.
      different++;
      const [isCount, wasCount] = [is, was].map((value) => Number(value?.slice(6) ?? -1));
      assert(isCount! > wasCount! || is === undefined, `${name} is ${is} and was ${was}`);
    }
    assert(different <= 4, "at most one change of each of four processes was under way");
    await state.secrets.set({ name: "LAST", value: "last-value" });
    for (const dir of [temp.dir, temp.keysDir]) {
      for await (const { name } of Deno.readDir(dir)) assert(!name.endsWith(".tmp"), name);
    }
    await state.close();
  }
});

/** What a writer was told up to its death, as names and values: it is killed when it has said `most` lines. */
async function runWriter(
  { dir, keysDir }: { dir: string; keysDir: string },
  name: string,
  most: number,
): Promise<[name: string, value: string][]> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--cached-only", ...lockedFlags(), "-q", WRITER, dir, keysDir, name],
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.split("\n").length <= most) continue;
    try {
      child.kill("SIGKILL");
    } catch {
      // It is dead already.
    }
  }
  assertEquals((await child.status).signal, "SIGKILL");
  return text.split("\n").slice(0, -1).map((line) => {
    const [name = "", value = ""] = line.split("=");
    return [name, value];
  });
}
