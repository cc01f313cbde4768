import { assert, assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openJournal } from "./open.ts";
import { assertRows } from "./testing/assert_rows.ts";
import { crashCopy, ending, hash, newTurn, withFiles, withFolder } from "./testing/steps.ts";
import type { Journal } from "../contract/journal.ts";

async function upload(journal: Journal, id: string, session: string, files: string): Promise<void> {
  await journal.accept(newTurn(id, { sessionKey: `test:${session}`, input: withFiles(files) }));
  await journal.end(id, ending());
}

/** Which of the files a session refers to. */
function referred(journal: Journal, files: string): string {
  return [...files].filter((file) => journal.hasFile(hash(file))).join("");
}

Deno.test("accept() refers to the files of its input, those of a document too", async () => {
  const journal = openJournal({ path: ":memory:" });
  const document = {
    type: "document" as const,
    name: "a.txt",
    mediaType: "text/plain",
    file: { sha256: hash("c"), bytes: 1 },
    text: "c",
  };
  const inline = { type: "image" as const, mediaType: "image/png", data: "AAAA" };
  await journal.accept(newTurn("a", { input: [...withFiles("aba"), document, inline] }));
  assertEquals(referred(journal, "abcd"), "abc");
  assertEquals(journal.turn("a")!.input, [...withFiles("aba"), document, inline]);
  await journal.close();
});

Deno.test("accept() that writes nothing refers to nothing", async () => {
  const journal = openJournal({ path: ":memory:" });
  const requestKey = { scope: "s", key: "k", digest: "d" };
  await journal.accept(newTurn("a"), { requestKey });
  const again = newTurn("b", { input: withFiles("a") });
  assertEquals((await journal.accept(again, { requestKey })).repeated, true);
  await assertRejects(() => journal.accept({ ...again, id: "a" }), ServiceError);
  assertEquals(referred(journal, "a"), "");
  await journal.close();
});

Deno.test("accept() refuses a file whose hash is none", async () => {
  const journal = openJournal({ path: ":memory:" });
  for (const sha256 of ["", "a", hash("a").toUpperCase() + "A", "../".repeat(21) + "a"]) {
    const input = [{ type: "image" as const, mediaType: "image/png", file: { sha256, bytes: 1 } }];
    const error = await assertRejects(() => journal.accept(newTurn("a", { input })), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", "input"]);
  }
  assertEquals(journal.session("test:a"), undefined);
  await journal.close();
});

Deno.test("deleteSession() tells of the files that nobody refers to now, and of no others", async () => {
  const told: string[][] = [];
  const journal = openJournal({
    path: ":memory:",
    onFilesFree(sha256s) {
      for (const sha256 of sha256s) assert(!journal.hasFile(sha256));
      told.push(sha256s);
    },
  });
  await upload(journal, "1", "a", "abc");
  await upload(journal, "2", "a", "ad");
  await upload(journal, "3", "b", "be");
  await journal.deleteSession("test:a");
  assertEquals(told.flat().sort(), ["a", "c", "d"].map(hash));
  assertEquals(referred(journal, "abcde"), "be");
  told.length = 0;
  await journal.deleteSession("test:b");
  assertEquals(told, [[hash("b"), hash("e")]]);
  await upload(journal, "4", "c", "");
  await journal.deleteSession("test:c");
  assertEquals(told.length, 1);
  await journal.close();
});

Deno.test("deleteSession() of two sessions at once tells of a file of both", async () => {
  const told: string[] = [];
  const journal = openJournal({ path: ":memory:", onFilesFree: (files) => told.push(...files) });
  await upload(journal, "1", "a", "x");
  await upload(journal, "2", "b", "x");
  await Promise.all([journal.deleteSession("test:a"), journal.deleteSession("test:b")]);
  assertEquals(new Set(told), new Set([hash("x")]));
  await journal.close();
});

Deno.test("deleteSession() removes many references in steps", () =>
  withFolder(async (folder) => {
    const told: string[][] = [];
    const path = `${folder}/a.db`;
    const journal = openJournal({ path, onFilesFree: (files) => told.push(files) });
    const files = Array.from({ length: 2_500 }, (_, n) => String.fromCharCode(0x1000 + n)).join("");
    await upload(journal, "1", "a", files);
    await journal.deleteSession("test:a");
    assertEquals(told.map(({ length }) => length), [1_000, 1_000, 500]);
    assertEquals(new Set(told.flat()).size, 2_500);
    await journal.close();
    assertRows(path);
  }));

Deno.test("recover() tells of the files of a deletion that a crash cut off, wherever that was", () =>
  withFolder(async (folder) => {
    const path = `${folder}/a.db`;
    let copies = 0;
    let copying = false;
    const told: string[] = [];
    const toldBefore: string[][] = [];
    const journal = openJournal({
      path,
      onFilesFree: (files) => told.push(...files),
      schedule: (flush) =>
        queueMicrotask(() => {
          flush();
          if (!copying) return;
          // What is told after this commit is not told by a process that dies here.
          toldBefore.push([...told]);
          crashCopy(path, `${folder}/copy-${copies++}.db`);
        }),
    });
    await upload(journal, "1", "gone", "abc");
    await upload(journal, "2", "kept", "cd");
    copying = true;
    await journal.deleteSession("test:gone");
    copying = false;
    await journal.close();
    assert(copies > 6, `${copies} steps`);
    let untold = 0;
    for (let n = 0; n < copies; n++) {
      const files = new Set(toldBefore[n]);
      const copyPath = `${folder}/copy-${n}.db`;
      const copy = openJournal({
        path: copyPath,
        onFilesFree: (free) => free.forEach((file) => files.add(file)),
      });
      // Gone with the very first step, so that a sweep finds them, whoever was told.
      assertEquals(referred(copy, "abcd"), "cd");
      await copy.recover();
      assertEquals(referred(copy, "abcd"), "cd");
      if (files.size === 0) untold++;
      else assertEquals(files, new Set([hash("a"), hash("b")]));
      await copy.close();
      assertRows(copyPath);
    }
    // Between a commit and its telling.
    assertEquals(untold, 1);
  }));
