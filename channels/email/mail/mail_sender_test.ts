import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isAddress } from "./address.ts";
import { headerFields, MalformedHeader } from "./header_fields.ts";
import { mailSender } from "./mail_sender.ts";
import { anyString } from "../../../tests/support/any_string.ts";

const bytes = (text: string) => new TextEncoder().encode(text.replace(/\n/g, "\r\n"));
const senderOf = (...lines: string[]) =>
  mailSender(headerFields(bytes(`${lines.join("\n")}\n\nbody`)));
const refused = (...lines: string[]) => {
  const sender = senderOf(...lines);
  assert("refused" in sender, `${JSON.stringify(lines)} is taken for ${JSON.stringify(sender)}`);
};

Deno.test("mailSender() reads one address with or without a name", () => {
  assertEquals(senderOf("From: Alice@Example.COM"), { address: "alice@example.com" });
  assertEquals(senderOf("From: <alice@example.com>"), { address: "alice@example.com" });
  assertEquals(senderOf('From: "Doe, Alice" <a.b+c@example.com>'), {
    address: "a.b+c@example.com",
    name: "Doe, Alice",
  });
  assertEquals(senderOf("From: =?utf-8?q?J=C3=BCrgen?= <j@example.com>"), {
    address: "j@example.com",
    name: "Jürgen",
  });
  assertEquals(senderOf("From: Jürgen", " <j@example.com>"), {
    address: "j@example.com",
    name: "Jürgen",
  });
});

Deno.test("mailSender() refuses a From that two programs would read in two ways", () => {
  refused("To: x@y.z");
  refused("From: a@example.com", "From: b@example.com");
  refused("From: a@example.com", "from : b@example.com");
  refused("From: a@example.com, b@example.com");
  refused("From: a@example.com <b@example.com>");
  refused("From: <a@example.com> <b@example.com>");
  refused("From: <a@example.com>, <b@example.com>");
  refused("From: Friends: a@example.com, b@example.com;");
  refused("From: Friends:;");
  refused("From: a@example.com (b@example.com)");
  refused("From: (a@example.com) b@example.com");
  refused('From: "a@example.com" b@example.com');
  refused('From: "a b"@example.com');
  refused("From: a@example.com>");
  refused("From: <a@example.com");
  refused("From: Alice <a@[127.0.0.1]>");
  refused("From: Alice <@relay.example:a@example.com>");
  refused("From: =?utf-8?q?a=40example.com?=");
  refused("From: Alice <=?utf-8?q?a?=@example.com>");
  refused("From: a@exаmple.com");
  refused("From: аlice@example.com");
  refused("From: a@example.com\u200b");
  refused("From: a@@example.com");
  refused("From: a@example..com");
  refused(`From: ${"a".repeat(65)}@example.com`);
  refused(`From: a@${"b.".repeat(130)}com`);
  refused("From:");
});

Deno.test("mailSender() shows no name that looks like an address", () => {
  assertEquals(senderOf('From: "boss@example.com" <a@example.com>'), { address: "a@example.com" });
  assertEquals(senderOf("From: =?utf-8?q?boss=40example.com?= <a@example.com>"), {
    address: "a@example.com",
  });
  assertEquals(senderOf("From: =?utf-8?q?a=0D=0ABcc=3A?= <a@example.com>"), {
    address: "a@example.com",
    name: "a Bcc:",
  });
});

Deno.test("headerFields() refuses headers whose end or fields are in doubt", () => {
  for (
    const text of [
      " From: a@b.c\r\n\r\n",
      "From a@b.c Mon\r\nFrom: a@b.c\r\n\r\n",
      "From: a@b.c\rFrom: b@b.c\r\n\r\n",
      "From: a@b.c\0\r\n\r\n",
      "no field\r\n\r\n",
      `A: ${"x".repeat(300_000)}\r\n\r\n`,
      "A: b\r\n".repeat(2_001),
    ]
  ) {
    let error: unknown;
    try {
      headerFields(new TextEncoder().encode(text));
    } catch (thrown) {
      error = thrown;
    }
    assert(error instanceof MalformedHeader, JSON.stringify(text.slice(0, 40)));
  }
  assertEquals(headerFields(bytes("A: b\n c\nD:e\n\nFrom: x")), [
    { name: "a", value: "b c" },
    { name: "d", value: "e" },
  ]);
});

Deno.test("mailSender() gives nothing but a plain address, whatever stands there", () => {
  fc.assert(fc.property(anyString(), (value) => {
    let fields;
    try {
      fields = headerFields(new TextEncoder().encode(`From: ${value}\r\n\r\n`));
    } catch (error) {
      assert(error instanceof MalformedHeader);
      return;
    }
    const sender = mailSender(fields);
    if (!("address" in sender)) return;
    assert(isAddress(sender.address));
    assert(value.toLowerCase().includes(sender.address));
  }));
});
