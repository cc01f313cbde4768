import { assertEquals, assertNotEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import {
  type IDBCursor,
  type IDBDatabase,
  type IDBFactory,
  IDBKeyRange,
  type IDBRequest,
  type IDBTransaction,
  provideIndexedDb,
} from "./indexed_db.ts";
import { type Key, keyBytes, keyOf } from "./indexed_db_key.ts";
import { lockedFlags } from "../../packages/locked_packages.ts";

const key = fc.letrec<{ key: Key }>((tie) => ({
  key: fc.oneof(
    { maxDepth: 2 },
    fc.double({ noNaN: true }).map((number) => number === 0 ? 0 : number),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.array(tie("key"), { maxLength: 3 }),
  ),
})).key;

const rank = (key: Key) => typeof key === "number" ? 0 : typeof key === "string" ? 1 : 2;

/** "Compare two keys" of the specification. */
function compare(a: Key, b: Key): number {
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (!Array.isArray(a) || !Array.isArray(b)) return a < b ? -1 : a > b ? 1 : 0;
  for (let at = 0; at < Math.min(a.length, b.length); at += 1) {
    const order = compare(a[at], b[at]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index]);
  return at < 0 ? a.length - b.length : (a[at]! - (b[at] ?? -1));
}

Deno.test("keyBytes() sorts keys as the specification does, and keyOf() reads them", () => {
  fc.assert(fc.property(key, key, (a, b) => {
    assertEquals(keyOf(keyBytes(a)), a);
    assertEquals(Math.sign(compareBytes(keyBytes(a), keyBytes(b))), Math.sign(compare(a, b)));
  }));
  for (const none of [undefined, null, NaN, true, {}, [[{}]]]) {
    assertThrows(() => keyBytes(none), DOMException);
  }
});

/** What a request comes to. */
function done<T = unknown>(request: IDBRequest): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result as T);
    request.onerror = () => reject(request.error);
  });
}

function ended(transaction: IDBTransaction): Promise<string> {
  return new Promise((resolve) => {
    transaction.oncomplete = () => resolve("complete");
    transaction.onabort = () => resolve("abort");
  });
}

/** A database with a store of people, and an index of their towns. */
async function open(folder: string, version = 1): Promise<[IDBDatabase, () => void]> {
  const close = provideIndexedDb(folder, "test");
  const { indexedDB } = globalThis as unknown as { indexedDB: IDBFactory };
  const request = indexedDB.open("people", version);
  request.onupgradeneeded = () => {
    const db = request.result as IDBDatabase;
    if (db.objectStoreNames.length > 0) return;
    const store = db.createObjectStore("people");
    store.createIndex("town", ["town", "age"]);
    store.createIndex("badge", "badge", { unique: true });
  };
  return [await done<IDBDatabase>(request), close];
}

async function withFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await use(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("IndexedDB finds records by keys, ranges, indexes and cursors, also after it was closed", () =>
  withFolder(async (folder) => {
    const [first, closeFirst] = await open(folder);
    const writing = first.transaction("people", "readwrite");
    const store = writing.objectStore("people");
    store.put({ town: "Bern", age: 30, photo: new Uint8Array([1, 2]) }, "ann");
    store.put({ town: "Rome", age: 20 }, "bob");
    store.put({ town: "Bern", age: 20 }, "cleo");
    store.put({ name: "has no town" }, "dan");
    writing.commit();
    assertEquals(await ended(writing), "complete");
    closeFirst();

    const [db, close] = await open(folder);
    const people = () => db.transaction("people").objectStore("people");
    assertEquals(await done(people().get("ann")), {
      ...{ town: "Bern", age: 30, photo: new Uint8Array([1, 2]) },
    });
    assertEquals(await done(people().get("nobody")), undefined);
    assertEquals(await done(people().getAllKeys(IDBKeyRange.bound("b", "d", false, true))), [
      ...["bob", "cleo"],
    ]);
    assertEquals(await done(people().index("town").getAllKeys()), ["cleo", "ann", "bob"]);
    const inBern = IDBKeyRange.bound(["Bern"], ["Bern", []]);
    assertEquals(await done(people().index("town").count(inBern)), 2);
    assertEquals(await done(people().count()), 4);

    const changing = db.transaction("people", "readwrite");
    const request = changing.objectStore("people").openCursor(IDBKeyRange.lowerBound("b"));
    const passed: unknown[] = [];
    request.onsuccess = () => {
      const cursor = request.result as IDBCursor | null;
      if (cursor === null) return;
      passed.push(cursor.key);
      if (cursor.key === "bob") cursor.delete();
      else cursor.update({ town: "Oslo", age: 1 });
      cursor.continue();
    };
    // Nobody ends it: it has nothing more to do.
    assertEquals(await ended(changing), "complete");
    assertEquals(passed, ["bob", "cleo", "dan"]);
    assertEquals(await done(people().index("town").getAllKeys()), ["ann", "cleo", "dan"]);
    close();
  }));

Deno.test("IndexedDB undoes a transaction that is aborted or fails, and the next one goes on", () =>
  withFolder(async (folder) => {
    const [db, close] = await open(folder);
    const aborted = db.transaction("people", "readwrite");
    aborted.objectStore("people").put({}, "ann");
    const waiting = db.transaction("people", "readwrite");
    waiting.objectStore("people").put({}, "bob");
    waiting.abort();
    await new Promise((resolve) => setTimeout(resolve, 0));
    const failing = db.transaction("people", "readwrite");
    failing.objectStore("people").put({ badge: 1 }, "cleo");
    failing.objectStore("people").put({ badge: 1 }, "dan");
    assertEquals(await ended(failing), "abort");
    const names = db.transaction("people").objectStore("people").getAllKeys();
    assertEquals(await done(names), ["ann"]);
    close();
  }));

Deno.test("IndexedDB has each transaction that it said is complete after the process was killed", () =>
  withFolder(async (folder) => {
    const script = `
      import { provideIndexedDb } from ${JSON.stringify(import.meta.resolve("./indexed_db.ts"))};
      provideIndexedDb(${JSON.stringify(folder)}, "test");
      const request = indexedDB.open("people", 1);
      request.onupgradeneeded = () => request.result.createObjectStore("people");
      request.onsuccess = () => next(1);
      function next(number) {
        const transaction = request.result.transaction("people", "readwrite");
        for (const name of ["a", "b"]) transaction.objectStore("people").put(number, name);
        transaction.oncomplete = () => {
          console.log(number);
          next(number + 1);
        };
        transaction.commit();
      }`;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--cached-only", ...lockedFlags(), "-"],
      cwd: new URL("../../../", import.meta.url),
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(script));
    await writer.close();
    let said = "";
    for await (const bytes of child.stdout) {
      if (said === "") child.kill("SIGKILL");
      said += new TextDecoder().decode(bytes);
    }
    await child.status;
    const last = Number(said.trimEnd().split("\n").at(-1));
    assertNotEquals(last, 0);
    const [db, close] = await open(folder);
    const [a, b] = await done<number[]>(db.transaction("people").objectStore("people").getAll());
    assertEquals([a === b, a! >= last], [true, true]);
    close();
  }));
