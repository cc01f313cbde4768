import { assertEquals } from "@std/assert";
import { type Key, readKeys } from "./keys.ts";

/** The keys of what a terminal sends, as short words. */
async function keysOf(...chunks: string[]): Promise<string[]> {
  const keys: string[] = [];
  const ended = Promise.withResolvers<void>();
  const read = readKeys(
    {
      readable: ReadableStream.from(chunks.map((chunk) => new TextEncoder().encode(chunk))),
      setRaw() {},
    },
    () => {},
    ({ name, text, ctrl, meta }: Key) =>
      keys.push(`${ctrl ? "C-" : ""}${meta ? "M-" : ""}${name}${text === "" ? "" : `:${text}`}`),
    () => ended.resolve(),
  );
  await ended.promise;
  read.close();
  return keys;
}

Deno.test("readKeys() gives a paste as one key, its line ends and marks no keys of their own", async () => {
  assertEquals(await keysOf("a\x1b[200~one\ntwo\r\n\tthree\x1b[201~b"), [
    "a:a",
    "paste:one\ntwo\n  three",
    "b:b",
  ]);
  assertEquals(await keysOf("\x1b[200~on", "e\x1b[20", "1~\r"), ["paste:one", "return"]);
});

Deno.test("readKeys() takes Enter with a modifier for a line feed, whatever form it comes in", async () => {
  assertEquals(await keysOf("\x1b[13;2u\x1b[27;5;13~\n\r"), ["enter", "enter", "enter", "return"]);
});

Deno.test("readKeys() gives Esc as a key without a modifier", async () => {
  const pressed = Promise.withResolvers<Key>();
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const read = readKeys({ readable, setRaw() {} }, () => {}, pressed.resolve, () => {});
  const writer = writable.getWriter();
  writer.write(new TextEncoder().encode("\x1b")).catch(() => {});
  const { name, meta } = await pressed.promise;
  assertEquals([name, meta], ["escape", false]);
  read.close();
  await writer.close().catch(() => {});
});

Deno.test("readKeys() names keys, and says what they write", async () => {
  assertEquals(await keysOf("é\x1b[A\x1b[1;5D\x03\x1bb\x7f\x1f"), [
    "text:é",
    "up",
    "C-left",
    "C-c",
    "M-b",
    "backspace",
    "C-_",
  ]);
});
