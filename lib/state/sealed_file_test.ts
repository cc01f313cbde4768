import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { ServiceError } from "../base/errors.ts";
import { isDamaged } from "./damaged.ts";
import { SealedFile, type SealedFileOptions } from "./sealed_file.ts";
import { StateLock } from "./state_lock.ts";
import { tempState } from "./testing/temp_state.ts";
import { rounds } from "../../tests/support/rounds.ts";

type Value = readonly string[];

/** A folder for files of texts; `open` is one more process, as it were. */
async function tempFiles() {
  const temp = await tempState();
  await Deno.mkdir(temp.dir);
  await Deno.mkdir(temp.keysDir);
  return {
    ...temp,
    path: `${temp.dir}/words.json`,
    anchor: `${temp.keysDir}/operator-words.json`,
    key: `${temp.keysDir}/operator.key`,
    async open(options: Partial<SealedFileOptions<Value>> = {}) {
      const { dir, keysDir } = temp;
      const lock = new StateLock({ path: `${dir}/lock` });
      const file = new SealedFile<Value>({
        name: "words",
        dir,
        keysDir,
        lock,
        empty: [],
        parse: (value) => {
          if (Array.isArray(value)) return value;
          throw new TypeError("expected a list");
        },
        maxBytes: 100_000,
        repair: "service words reset",
        now: Date.now,
        ...options,
      });
      await SealedFile.open([file], { dir, keysDir, lock });
      return file;
    },
    [Symbol.asyncDispose]: () => temp[Symbol.asyncDispose](),
  };
}

function add(file: SealedFile<Value>, word: string): Promise<void> {
  return file.update((all) => ({
    value: [...all, word],
    records: [{ kind: "grant.added", data: { word } }],
    result: undefined,
  }));
}

/** The value, or `damaged`. */
function look(file: SealedFile<Value>): Value | "damaged" {
  const state = file.read();
  return isDamaged(state) ? "damaged" : state.value;
}

Deno.test("SealedFile finds every byte that is changed, left out or added", async () => {
  await using temp = await tempFiles();
  await add(await temp.open(), "ünï");
  for (const path of [temp.path, temp.anchor]) {
    const bytes = await Deno.readFile(path);
    const edits: Uint8Array[] = [];
    for (let at = 0; at < bytes.length; at += rounds(1, 3)) {
      for (const bit of [1, 32, 128].slice(0, rounds(3, 1))) {
        edits.push(bytes.with(at, bytes[at]! ^ bit));
      }
      edits.push(
        bytes.slice(0, at),
        new Uint8Array([...bytes.slice(0, at), ...bytes.slice(at + 1)]),
      );
      edits.push(new Uint8Array([...bytes.slice(0, at), 0x20, ...bytes.slice(at)]));
    }
    edits.push(new Uint8Array([0xef, 0xbb, 0xbf, ...bytes]), new Uint8Array([...bytes, 0x0a]));
    for (const edit of edits) {
      await Deno.writeFile(path, edit);
      const file = await temp.open();
      assertEquals(look(file), "damaged", new TextDecoder().decode(edit));
    }
    await Deno.writeFile(path, bytes);
    assertEquals(look(await temp.open()), ["ünï"]);
  }
});

Deno.test("SealedFile finds what is gone, swapped, of an older state, and no file", async () => {
  const cases: [string, (temp: Awaited<ReturnType<typeof tempFiles>>) => Promise<unknown>][] = [
    ["file gone", (temp) => Deno.remove(temp.path)],
    ["anchor gone", (temp) => Deno.remove(temp.anchor)],
    ["key gone", (temp) => Deno.remove(temp.key)],
    ["folder gone", async (temp) => {
      await Deno.remove(temp.dir, { recursive: true });
      await Deno.mkdir(temp.dir);
    }],
    ["older", (temp) => Deno.copyFile(`${temp.root}/older.json`, temp.path)],
    ["of another name", (temp) => Deno.copyFile(`${temp.dir}/others.json`, temp.path)],
    ["too large", (temp) => Deno.writeTextFile(temp.path, "x".repeat(100_001))],
    ["a link", async (temp) => {
      await Deno.rename(temp.path, `${temp.root}/elsewhere.json`);
      await Deno.symlink(`${temp.root}/elsewhere.json`, temp.path);
    }],
    ["a folder", async (temp) => {
      await Deno.remove(temp.path);
      await Deno.mkdir(temp.path);
    }],
    ["anchor a folder", async (temp) => {
      await Deno.remove(temp.anchor);
      await Deno.mkdir(temp.anchor);
    }],
    ["key a folder", async (temp) => {
      await Deno.remove(temp.key);
      await Deno.mkdir(temp.key);
    }],
    ["key of a wrong length", (temp) => Deno.writeTextFile(temp.key, "00")],
    ["key of another home", (temp) => Deno.writeTextFile(temp.key, "0".repeat(64))],
    ["key that others may read", (temp) => Deno.chmod(temp.key, 0o640)],
  ];
  for (const [name, damage] of cases) {
    await using temp = await tempFiles();
    const running = await temp.open();
    await add(running, "a");
    await add(await temp.open({ name: "others" }), "b");
    await Deno.copyFile(temp.path, `${temp.root}/older.json`);
    await add(running, "c");
    await damage(temp);

    // Also where the file itself did not change: by the next start.
    const file = await temp.open();
    assertEquals([name, look(file)], [name, "damaged"]);
    const before = await Deno.stat(temp.path).catch(() => undefined);
    const error = await assertRejects(() => add(file, "d"), ServiceError, "service words reset");
    assertEquals(error.code, "refused");
    assertEquals((await Deno.stat(temp.path).catch(() => undefined))?.ino, before?.ino, name);
    await file.record(temp.audit);
    assertEquals(temp.records, [], "what is damaged is not recorded as if it were true");

    assertEquals(await file.reset(), true);
    assertEquals([name, look(file)], [name, []]);
    await add(file, "e");
    assertEquals([name, look(await temp.open())], [name, ["e"]]);
    assertEquals([name, look(running)], [name, ["e"]], "a process that runs goes on with it");
    await file.record(temp.audit);
    assertEquals(temp.records.map(({ kind }) => kind), ["state.reset", "grant.added"]);
    assertEquals(await file.reset(), false);
  }
});

Deno.test("SealedFile goes on after a crash between its two writes, however often", async () => {
  await using temp = await tempFiles();
  const crashing = await temp.open({
    write: async (path, text, options) => {
      // The anchor's new text was written, the file replaced, and then the process was gone.
      const isAnchor = path === temp.anchor && options.beforeReplace !== undefined;
      if (!isAnchor) return await writeFileAtomic(path, text, options);
      await options.beforeReplace!();
      throw new Error("crash");
    },
  });
  for (const word of ["a", "b", "c"]) {
    await assertRejects(() => add(crashing, word), ServiceError, "crash");
  }
  assertEquals(look(crashing), ["a", "b", "c"]);
  const file = await temp.open();
  assertEquals(look(file), ["a", "b", "c"]);
  await Deno.remove(temp.path);
  assertEquals(look(await temp.open()), "damaged");
});

Deno.test("SealedFile keeps the old value when the disk is full, wherever that is noticed", async () => {
  for (const fails of [1, 2]) {
    await using temp = await tempFiles();
    await add(await temp.open(), "a");
    let writes = 0;
    const file = await temp.open({
      write: async (path, text, options) => {
        if (++writes === fails) throw new Error("No space left on device");
        await writeFileAtomic(path, text, options);
      },
    });
    const error = await assertRejects(
      () => add(file, "b"),
      ServiceError,
      "No space left on device",
    );
    assertEquals(error.code, "internal");
    assertEquals([look(file), look(await temp.open())], [["a"], ["a"]]);
    await add(file, "c");
    assertEquals([look(file), look(await temp.open())], [["a", "c"], ["a", "c"]]);
  }
});

Deno.test("SealedFile refuses what would be larger than it may be, and stays as it was", async () => {
  await using temp = await tempFiles();
  const file = await temp.open();
  await add(file, "a");
  const error = await assertRejects(
    () => add(file, "ü".repeat(50_000)),
    ServiceError,
    "100000 bytes",
  );
  assertEquals([error.code, look(file), look(await temp.open())], ["too_large", ["a"], ["a"]]);
});

Deno.test("SealedFile refuses a change when too many wait for the audit, until it has them", async () => {
  await using temp = await tempFiles();
  const file = await temp.open();
  const many = Array.from({ length: 1_000 }, () => ({ kind: "grant.added" as const, data: {} }));
  await file.update(() => ({ value: ["a"], records: many, result: undefined }));
  assertEquals((await assertRejects(() => add(file, "b"), ServiceError)).code, "overloaded");
  await file.record(temp.audit);
  await add(file, "b");
  assertEquals([temp.records.length, look(file)], [1_000, ["a", "b"]]);
});

Deno.test("SealedFile sees every version of others, also many in a moment and with a clock that stands or jumps", async () => {
  await using temp = await tempFiles();
  const times = [5_000, 5_000, 5_000, 1_000, 9_000_000_000_000, 2_000, 2_000];
  const writer = await temp.open({ now: () => times[0]! });
  const reader = await temp.open();
  const words: string[] = [];
  while (times.length > 1) {
    const word = `${times.length}`;
    await add(writer, word);
    words.push(word);
    assertEquals(look(reader), words);
    times.shift();
  }
});

Deno.test("SealedFile tells nobody that it is damaged while another process begins it", async () => {
  for (let round = 0; round < 20; round++) {
    await using temp = await tempFiles();
    const [writer, reader] = [await temp.open(), await temp.open()];
    let isDone = false;
    const writing = (async () => {
      for (let count = 0; count < 5; count++) await add(writer, `${count}`);
    })().finally(() => isDone = true);
    while (!isDone) {
      assert(look(reader) !== "damaged", JSON.stringify(reader.read()));
      await new Promise((resolve) => setTimeout(resolve));
    }
    await writing;
  }
});

Deno.test("SealedFile loses no change of several at once, and is what a model of it is", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          by: fc.nat(2),
          what: fc.constantFrom("add", "add", "remove", "read", "record", "restart", "fail"),
        }),
        { minLength: 5, maxLength: 25 },
      ),
      async (steps) => {
        await using temp = await tempFiles();
        const files = [await temp.open(), await temp.open(), await temp.open()];
        const model = new Set<string>();
        let changes = 0;
        // In groups, so that what is in a group happens at once.
        for (let at = 0; at < steps.length; at += 4) {
          await Promise.all(
            steps.slice(at, at + 4).map(async ({ by, what }, index) => {
              const [file, word] = [files[by]!, `${at + index}`];
              switch (what) {
                case "add":
                  model.add(word), changes++;
                  return await add(file, word);
                case "remove": {
                  const gone = await file.update((all) => ({
                    value: all.slice(1),
                    records: [{ kind: "grant.removed", data: {} }],
                    result: all[0],
                  }));
                  if (gone !== undefined) model.delete(gone);
                  return void changes++;
                }
                case "read":
                  return assert(look(file) !== "damaged");
                case "record":
                  return await file.record(temp.audit);
                case "restart":
                  return void (files[by] = await temp.open());
                case "fail": {
                  const fail = () => {
                    throw new Error("not that one");
                  };
                  return void await assertRejects(() => file.update(fail), Error, "not that one");
                }
              }
            }),
          );
          for (const file of files) assertEquals(new Set(look(file)), model);
        }
        await files[0]!.record(temp.audit);
        const names = temp.records.map(({ data }) => data.change);
        assertEquals([names.length, new Set(names).size], [changes, changes]);
        for (const file of files) assertEquals(file.hasRecords(), false);
      },
    ),
    { numRuns: rounds(15) },
  );
});

Deno.test("SealedFile takes its file from others, and starts beside leftovers of any kind", async () => {
  await using temp = await tempFiles();
  await add(await temp.open(), "a");
  await Deno.chmod(temp.path, 0o666);
  await Deno.writeTextFile(`${temp.path}.0123abcd.tmp`, "half");
  await Deno.mkdir(`${temp.anchor}.0123abcd.tmp/deep`, { recursive: true });
  await Deno.writeTextFile(`${temp.path}.mine.tmp`, "not ours");
  await Deno.writeTextFile(`${temp.key}.0123abcd.tmp`, "half");
  const file = await temp.open();
  assertEquals(look(file), ["a"]);
  assertEquals((await Deno.stat(temp.path)).mode! & 0o777, 0o600);
  const names = [...Deno.readDirSync(temp.dir)].map(({ name }) => name).sort();
  assertEquals(names, ["lock", "words.json", "words.json.mine.tmp"]);
  assertEquals(
    [...Deno.readDirSync(temp.keysDir)].map(({ name }) => name).filter((name) =>
      name.startsWith("operator.key")
    ),
    ["operator.key"],
  );
});

Deno.test("SealedFile of a newer program is left as it is, and says whose it is instead of how to begin anew", async () => {
  await using temp = await tempFiles();
  const newer: ((text: string) => Promise<SealedFile<Value>>)[] = [
    async (text) => {
      await Deno.writeTextFile(temp.path, text.replace('{"v":1,', '{"v":2,'));
      return await temp.open();
    },
    // Sealed as it should be, with something that this program doesn't know.
    () =>
      temp.open({
        parse: () => {
          throw new TypeError('Unrecognized key: "colour"');
        },
      }),
  ];
  const file = await temp.open();
  await add(file, "kept");
  const text = await Deno.readTextFile(temp.path);
  for (const open of newer) {
    const later = await open(text);
    const before = await Deno.readTextFile(temp.path);
    const state = later.read();
    assert(isDamaged(state) && state.isNewer);
    const error = await assertRejects(() => add(later, "more"), ServiceError);
    assertEquals(error.code, "refused");
    assert(/Use the version of this program that wrote it/.test(error.message), error.message);
    assert(!error.message.includes("service words reset"), error.message);
    assertEquals(await Deno.readTextFile(temp.path), before);
    await Deno.writeTextFile(temp.path, text);
  }
});
