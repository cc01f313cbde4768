import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { headerFields } from "./header_fields.ts";
import { chatIdOf, mailThread, readChatId } from "./mail_thread.ts";
import { messageIdsIn, ownMessageId, threadKey } from "./message_ids.ts";
import { cpuMs } from "../../../tests/support/cpu_ms.ts";

const threadOf = (...lines: string[]) =>
  mailThread(headerFields(new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`)), "uid:1:2");

Deno.test("mailThread() is the same for all mails of one conversation", async () => {
  const first = await threadOf("Message-ID: <a@x.y>");
  assertEquals(first.isNew, true);
  assertEquals(first.references, ["<a@x.y>"]);
  const second = await threadOf(
    "Message-ID: <c@x.y>",
    "In-Reply-To: <b@x.y>",
    "References: <a@x.y> <b@x.y>",
  );
  assertEquals(second.key, first.key);
  assertEquals(second.isNew, false);
  assertEquals(second.references, ["<a@x.y>", "<b@x.y>", "<c@x.y>"]);
  assertEquals((await threadOf("Message-ID: <d@x.y>", "In-Reply-To: <a@x.y>")).key, first.key);
  assertNotEquals((await threadOf("Message-ID: <e@x.y>")).key, first.key);
  assertEquals((await threadOf("Subject: x")).key, await threadKey("uid:1:2"));
});

Deno.test("mailThread() finds the thread by an own id where nothing else refers to it", async () => {
  const thread = "0123456789abcdef";
  const own = await ownMessageId({ runtimeName: "email", id: "m", thread, address: "agent@x.y" });
  assertEquals((await threadOf("Message-ID: <z@x.y>", `In-Reply-To: ${own}`)).key, thread);
  assertEquals((await threadOf(`References: <q@x.y> ${own}`)).key, thread);
  // The same message is the same mail; another one, or of another account, is not.
  const again = await ownMessageId({ runtimeName: "email", id: "m", thread, address: "agent@x.y" });
  assertEquals(again, own);
  const other = await ownMessageId({
    runtimeName: "email.b",
    id: "m",
    thread,
    address: "agent@x.y",
  });
  assertNotEquals(other, own);
});

Deno.test("mailThread() keeps the first and the last of very many references", async () => {
  const ids = Array.from({ length: 100 }, (_, index) => `<${index}@x.y>`);
  const { references } = await threadOf(`References: ${ids.join(" ")}`, "Message-ID: <last@x.y>");
  assertEquals(references.length, 20);
  assertEquals(references[0], "<0@x.y>");
  assertEquals(references.at(-1), "<last@x.y>");
});

Deno.test("messageIdsIn() takes ids and nothing around them", () => {
  assertEquals(messageIdsIn("junk <a@b> <a@b> <c d@e> <@x> <f@> <g@h> >"), ["<a@b>", "<g@h>"]);
  assertEquals(messageIdsIn(`<${"x".repeat(300)}@b>`), []);
  const before = cpuMs();
  messageIdsIn("<a@".repeat(30_000));
  messageIdsIn("<".repeat(60_000));
  messageIdsIn(`<${"a".repeat(60_000)}`);
  assert(cpuMs() - before < 2_000);
});

Deno.test("readChatId() reads what chatIdOf() makes, and addresses alone", () => {
  const chatId = chatIdOf({ address: "a#b@example.com", thread: "0123456789abcdef" });
  assertEquals(readChatId(chatId), { address: "a#b@example.com", thread: "0123456789abcdef" });
  assertEquals(readChatId("Alice@Example.com"), { address: "alice@example.com" });
  for (
    const chatId of [
      "",
      "x",
      "a@b, c@d",
      "a@b\r\nBcc: c@d",
      "a@b#0123",
      "<a@b>",
      "#0123456789abcdef",
    ]
  ) {
    assertEquals(readChatId(chatId), undefined, chatId);
  }
});
