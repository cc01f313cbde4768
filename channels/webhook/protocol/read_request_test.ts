import { assert, assertEquals, assertThrows } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../../../lib/base/errors.ts";
import { MEDIA_LIMITS } from "../../../lib/contract/wire/envelopes.ts";
import { readRequest } from "./read_request.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const read = (body: unknown) =>
  readRequest(new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)));

const GOOD = { chat_id: "c", sender_id: "a", text: "hi" };
const PNG = "data:image/png;base64,iVBORw0KGgo=";

/** Code and param of the error. */
function refusal(body: unknown): [string, string | undefined] {
  const { code, details } = assertThrows(() => read(body), ServiceError);
  return [code, details.param];
}

Deno.test("readRequest() reads a message with everything", () => {
  const { media, ...rest } = read({
    ...GOOD,
    id: "m1",
    sender_name: "Alice",
    media: [PNG, { data_url: PNG, name: "../../etc/pass wd.png" }, { data_url: PNG }],
    metadata: { a: [1] },
    wait: true,
  });
  assertEquals(rest, {
    id: "m1",
    chatId: "c",
    senderId: "a",
    senderName: "Alice",
    text: "hi",
    metadata: { a: [1] },
    wait: true,
  });
  assertEquals(media.map(({ name }) => name), ["file-1", "pass wd.png", "file-3"]);
  assertEquals(media[0]!.bytes.length, 8);
  assertEquals(read({ chat_id: "c", sender_id: "a", media: [PNG] }).text, "");
});

Deno.test("readRequest() names the field that is wrong", () => {
  for (
    const [body, param] of [
      ["", undefined],
      ["[]", undefined],
      ["null", undefined],
      ["{", undefined],
      ["[".repeat(100_000), undefined],
      [{ ...GOOD, chat_id: undefined }, "chat_id"],
      [{ ...GOOD, chat_id: 5 }, "chat_id"],
      [{ ...GOOD, sender_id: null }, "sender_id"],
      [{ ...GOOD, text: undefined }, "text"],
      [{ ...GOOD, text: " \n" }, "text"],
      [{ ...GOOD, text: ["hi"] }, "text"],
      [{ ...GOOD, metadata: [] }, "metadata"],
      [{ ...GOOD, wait: "yes" }, "wait"],
      [{ ...GOOD, id: 1 }, "id"],
      [{ ...GOOD, chatId: "c" }, "chatId"],
      [{ ...GOOD, type: "message" }, "type"],
      [{ ...GOOD, media: PNG }, "media"],
      [{ ...GOOD, media: Array(MEDIA_LIMITS.maxCount + 1).fill(PNG) }, "media"],
      [{ ...GOOD, media: ["/etc/passwd"] }, "media[0]"],
      [{ ...GOOD, media: ["file:///etc/passwd"] }, "media[0]"],
      [{ ...GOOD, media: [PNG, "data:image/png,abc"] }, "media[1]"],
      [{ ...GOOD, media: ["data:image/png;base64,%%"] }, "media[0]"],
      [{ ...GOOD, media: ["data:image/png;base64,"] }, "media[0]"],
      [{ ...GOOD, media: [{ name: "a" }] }, "media[0]"],
    ] as const
  ) assertEquals(refusal(body), ["invalid_request", param], JSON.stringify(body).slice(0, 80));
  const large = `data:;base64,${new Uint8Array(MEDIA_LIMITS.maxFileBytes + 1).toBase64()}`;
  assertEquals(refusal({ ...GOOD, media: [large] }), ["too_large", "media[0]"]);
  assertThrows(() => readRequest(new Uint8Array([0x22, 0xFF, 0x22])), ServiceError, "not JSON");
});

Deno.test("readRequest() gives names that stay in their folder", () => {
  fc.assert(
    fc.property(anyString({ maxLength: 300 }), (name) => {
      const [file] = read({ ...GOOD, media: [{ data_url: PNG, name }] }).media;
      assert(!/[/\\\0\n]/.test(file!.name) && !/^\.*$/.test(file!.name), file!.name);
      assert(file!.name.isWellFormed() && new TextEncoder().encode(file!.name).length < 255);
    }),
  );
});
