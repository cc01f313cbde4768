import { assertEquals, assertRejects } from "@std/assert";
import { MAX_FILES } from "../../lib/documents/read_upload.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { AskedPart } from "../../lib/local/protocol.ts";
import type { AttachedFile } from "./attach_file.ts";
import { gatherMessage, type MessageOptions } from "./gather_message.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { needs } from "../../tests/support/needs.ts";

/** Gathers with this on standard input; undefined is a terminal. */
async function gather(
  options: Partial<MessageOptions>,
  piped?: string,
): Promise<{ parts: AskedPart[] | undefined; order: string[] }> {
  const order: string[] = [];
  const parts = await gatherMessage({ files: [], useStdin: true, ...options }, {
    stdinIsTerminal: piped === undefined,
    readStdin: () => {
      order.push("stdin");
      return Promise.resolve(piped ?? "typed at the terminal\n");
    },
    attach: (path) => {
      order.push(path);
      return Promise.resolve(file(path));
    },
  });
  return { parts, order };
}

async function refusal(options: Partial<MessageOptions>, piped?: string): Promise<string> {
  const error = await assertRejects(() => gather(options, piped), ServiceError);
  assertEquals(error.code, "usage");
  return error.message;
}

function file(name: string, bytes = 3): AttachedFile {
  return { type: "file", name, data: new Uint8Array(bytes).toBase64() };
}

const text = (text: string): AskedPart => ({ type: "text", text });

const piped = (text: string): AskedPart => ({
  type: "text",
  text,
  provenance: "file",
  from: "standard input",
});

Deno.test("gatherMessage() adds what is piped in as a file's text, and not as the person's words", async () => {
  const { parts } = await gather({ message: "what failed?" }, "line 1\nline 2\n");
  assertEquals(parts, [text("what failed?"), piped("line 1\nline 2")]);
  assertEquals((await gather({ message: "hi" }, "")).parts, [text("hi")]);
  assertEquals((await gather({ message: "hi" }, " \n")).parts, [text("hi")]);
});

Deno.test("gatherMessage() takes the piped text alone as the message", async () => {
  assertEquals((await gather({}, "hello\n")).parts, [text("hello")]);
  assertEquals((await gather({ message: "-" }, "hello\n")).parts, [text("hello")]);
  assertEquals((await gather({ message: "-" })).parts, [text("typed at the terminal")]);
});

Deno.test("gatherMessage() reads standard input before any file, and no terminal", async () => {
  const { parts, order } = await gather({ message: "hi", files: ["a", "b"] }, "x");
  assertEquals(order, ["stdin", "a", "b"]);
  assertEquals(parts, [text("hi"), piped("x"), file("a"), file("b")]);
  assertEquals((await gather({ message: "hi" })).order, []);
  assertEquals((await gather({ message: "hi", useStdin: false }, "x")).order, []);
});

Deno.test("gatherMessage() accepts a file without a text", async () => {
  assertEquals((await gather({ files: ["a"] })).parts, [file("a")]);
});

Deno.test("gatherMessage() wants a chat when nothing was given at a terminal", async () => {
  assertEquals((await gather({})).parts, undefined);
  assertEquals((await gather({ useStdin: false })).parts, undefined);
});

Deno.test("gatherMessage() refuses a message without any text", async () => {
  assertEquals(
    await refusal({}, ""),
    "No message: give it as TEXT or with -m, or pipe it in",
  );
  assertEquals(
    await refusal({ useStdin: false }, "x"),
    "No message: give it as TEXT or with -m",
  );
  assertEquals(await refusal({ message: "" }), "The message is empty");
  assertEquals(await refusal({ message: " \n" }, "\n"), "The message is empty");
  assertEquals(await refusal({ message: "-" }, ""), "The message is empty");
  assertEquals(
    (await refusal({ message: "-", useStdin: false }, "x")).includes("--no-stdin"),
    true,
  );
});

Deno.test(
  needs("gatherMessage() takes 20 files of 64 MiB together, and reads no more", FULL_RUN),
  async () => {
    const twenty = Array.from({ length: MAX_FILES }, (_, index) => `${index}`);
    assertEquals((await gather({ files: twenty })).parts?.length, MAX_FILES);
    const read: string[] = [];
    const gatherSized = (files: string[]) =>
      gatherMessage({ files, useStdin: false }, {
        stdinIsTerminal: true,
        readStdin: () => Promise.resolve(""),
        attach: (path) => {
          read.push(path);
          return Promise.resolve(file(path, Number(path)));
        },
      });
    const tooMany = await assertRejects(() => gatherSized([...twenty, "1"]), ServiceError);
    assertEquals([tooMany.code, tooMany.details.param, read.length], ["too_large", "file", 0]);
    const large = Array.from({ length: 6 }, () => `${10 * 1024 * 1024}`);
    const rest = 4 * 1024 * 1024;
    assertEquals((await gatherSized([...large, `${rest}`]))?.length, 7);
    read.length = 0;
    const tooLarge = await assertRejects(
      () => gatherSized([...large, `${rest + 1}`, "1"]),
      ServiceError,
    );
    assertEquals([tooLarge.code, read.length], ["too_large", 7]);
  },
);

Deno.test("gatherMessage() leaves the texts as they are but for the last line end", async () => {
  const { parts } = await gather({ message: "  a  " }, "\n  b\n\n");
  assertEquals(parts, [text("  a  "), piped("\n  b\n")]);
});
