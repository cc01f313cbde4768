import { assert, assertEquals } from "@std/assert";
import { automaticReason } from "./automatic_reason.ts";
import { headerFields } from "./header_fields.ts";
import { ownMessageId } from "./message_ids.ts";

const reasonOf = (line: string, address = "alice@example.com") =>
  automaticReason(headerFields(new TextEncoder().encode(`${line}\r\n\r\n`)), {
    address,
    own: ["agent@example.com"],
  });

Deno.test("automaticReason() leaves alone what programs write (C37)", async () => {
  const own = await ownMessageId({
    runtimeName: "email",
    id: "m1",
    thread: "0123456789abcdef",
    address: "agent@example.com",
  });
  for (
    const line of [
      "Auto-Submitted: auto-replied",
      "AUTO-SUBMITTED: Auto-Generated (vacation)",
      "Auto-Submitted: auto-notified; owner-email=x",
      "Precedence: bulk",
      "Precedence: LIST",
      "Precedence: junk",
      "List-Id: <a.example.com>",
      "List-Unsubscribe: <https://example.com>",
      "X-Auto-Response-Suppress: All",
      "X-Autoreply: yes",
      "Return-Path: <>",
      "Return-Path: < >",
      "Content-Type: multipart/report; report-type=delivery-status",
      `Message-ID: ${own}`,
    ]
  ) assert(reasonOf(line) !== undefined, line);
  assert(reasonOf("A: b", "mailer-daemon@mx.example.com") !== undefined);
  assert(reasonOf("A: b", "agent@example.com") !== undefined);
});

Deno.test("automaticReason() hears people", () => {
  for (
    const line of [
      "Auto-Submitted: no",
      "Precedence: normal",
      "Return-Path: <alice@example.com>",
      "X-Auto-Response-Suppress: None",
      "Message-ID: <a@example.com>",
      "Subject: Auto-Submitted: yes",
    ]
  ) assertEquals(reasonOf(line), undefined, line);
});
