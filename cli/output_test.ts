import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import { jsonLine, Output, OutputClosedError, sanitize } from "./output.ts";
import { memoryOutput, MemoryStream } from "./testing/memory_output.ts";
import { anyString } from "../tests/support/any_string.ts";

Deno.test("Output.line() writes text as it is when standard output is a pipe", () => {
  const { out, stdout } = memoryOutput();
  out.line("a\x1b[31mb", { text: "c", style: "bold" });
  assertEquals(stdout.text, "a\x1b[31mbc\n");
});

Deno.test("Output.line() shows control characters instead of obeying them on a terminal", () => {
  const { out, stdout } = memoryOutput({ stdout: true });
  out.line("a\x1b]52;c;aGk=\x07b\r\nc\u202ed\x9b1m\ttab");
  assertEquals(stdout.text, "a␛]52;c;aGk=␇b\nc\ufffdd\ufffd1m\ttab\n");
});

Deno.test("Output.line() colours spans on a terminal only, and not with NO_COLOR", () => {
  for (
    const [options, expected] of [
      [{ stdout: true }, "\x1b[31mno\x1b[0m\n"],
      [{ stdout: true, noColor: true }, "no\n"],
      [{}, "no\n"],
    ] as const
  ) {
    const { out, stdout } = memoryOutput(options);
    out.line({ text: "no", style: "red" });
    assertEquals(stdout.text, expected);
  }
});

Deno.test("Output writes everything when the stream takes a part or would block", async () => {
  const { out, stdout } = memoryOutput();
  stdout.maxBytes = 3;
  stdout.failures.push(new Deno.errors.WouldBlock("busy"));
  out.write("abcdefgh");
  stdout.failures.push(new Deno.errors.WouldBlock("busy"));
  await out.stream("ijklmnop");
  assertEquals(stdout.text, "abcdefghijklmnop");
});

Deno.test("Output keeps a character whole that was split between two writes", () => {
  const { out, stdout } = memoryOutput();
  out.write("x\ud83d");
  out.write("\ude00y");
  assertEquals(stdout.text, "x😀y");
});

Deno.test("Output throws OutputClosedError when the reader of standard output is gone", async () => {
  const { out, stdout, stderr } = memoryOutput();
  stdout.failures.push(new Deno.errors.BrokenPipe("EPIPE"), new Deno.errors.BrokenPipe("EPIPE"));
  assertThrows(() => out.line("x"), OutputClosedError);
  await assertRejects(() => out.stream("x"), OutputClosedError);
  stderr.failures.push(new Deno.errors.BrokenPipe("EPIPE"));
  out.note("lost, and that is no failure");
});

Deno.test("Output lets other errors of a stream through", () => {
  const { out, stdout, stderr } = memoryOutput();
  stdout.failures.push(new Error("disk full"));
  assertThrows(() => out.line("x"), Error, "disk full");
  stderr.failures.push(new Error("disk full"));
  assertThrows(() => out.note("x"), Error, "disk full");
});

Deno.test("sanitize() leaves nothing that a terminal obeys", () => {
  fc.assert(fc.property(anyString(), (text) => {
    // deno-lint-ignore no-control-regex
    return !/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/.test(sanitize(text));
  }));
});

Deno.test("jsonLine() is one line, safe, and the same value", () => {
  fc.assert(fc.property(fc.jsonValue(), anyString(), (value, text) => {
    const line = jsonLine({ value, text });
    assertEquals(JSON.parse(line), JSON.parse(JSON.stringify({ value, text })));
    assertEquals(sanitize(line), line);
    assertEquals(line.includes("\n"), false);
  }));
});

Deno.test("Output rewrites commands in words, and leaves data, paths and prose alone", () => {
  const stdout = new MemoryStream(false);
  const stderr = new MemoryStream(false);
  const out = new Output({
    stdout,
    stderr,
    noColor: true,
    columns: () => undefined,
    typedAs: () => "deno task service",
  });
  out.note("error: See it with: service doctor, or `service config check` && service gateway");
  out.note("The service models are in /usr/service config and a service agent; service stopped");
  out.line("x ", { text: "service doctor", isData: true });
  out.json({ fix: "service doctor", text: "service doctor" });
  assertEquals(
    stderr.text,
    "error: See it with: deno task service doctor, or `deno task service config check` && " +
      "deno task service gateway\n" +
      "The service models are in /usr/service config and a service agent; service stopped\n",
  );
  assertEquals(
    stdout.text,
    'x service doctor\n{"fix":"deno task service doctor","text":"service doctor"}\n',
  );
});
