import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import { fakeClock } from "../../../lib/agent/testing/fake_clock.ts";
import { AnswerLimit } from "./answer_limit.ts";
import { composeMail, type ComposeOptions } from "./compose_mail.ts";
import { deliveryFault } from "./delivery_fault.ts";
import { MAX_FILES_BYTES, outgoingFiles } from "./outgoing_files.ts";

const compose = (more: Partial<ComposeOptions> = {}) =>
  composeMail({
    from: { name: "Agent", address: "agent@x.y" },
    to: "a@x.y",
    subject: "A message",
    messageId: "<m@x.y>",
    content: "Hi",
    metadata: {},
    files: [],
    now: 0,
    ...more,
  });

Deno.test("composeMail() answers in the thread, and says that a program wrote it", () => {
  const mail = compose({
    metadata: { messageId: "<c@x.y>", references: ["<a@x.y>", "<b@x.y>"], subject: "Hello" },
  });
  assertEquals(mail.subject, "Re: Hello");
  assertEquals(mail.inReplyTo, "<c@x.y>");
  assertEquals(mail.references, ["<a@x.y>", "<b@x.y>", "<c@x.y>"]);
  assertEquals(mail.headers["Auto-Submitted"], "auto-replied");
  const first = compose();
  assertEquals(first.subject, "A message");
  assertEquals(first.inReplyTo, undefined);
  assertEquals(first.headers["Auto-Submitted"], "auto-generated");
});

Deno.test("composeMail() writes Re: once", () => {
  const subjectOf = (subject: string) =>
    compose({ metadata: { messageId: "<c@x.y>", subject } }).subject;
  assertEquals(["Re: a", "RE:a", "AW: a", "Re[2]: a", "Regular"].map(subjectOf), [
    "Re: a",
    "RE:a",
    "AW: a",
    "Re[2]: a",
    "Re: Regular",
  ]);
});

Deno.test("composeMail() makes no header of what somebody else wrote", () => {
  const mail = compose({
    metadata: {
      messageId: "<c@x.y>\r\nBcc: <evil@x.y>",
      references: ["<a@x.y>\r\nBcc: evil", 7, "x".repeat(100_000)],
      subject: `a\r\nBcc: evil@x.y\u2028${"x".repeat(9_000)}`,
    },
  });
  assertEquals(mail.inReplyTo, "<c@x.y>");
  assertEquals(mail.references, ["<a@x.y>", "<c@x.y>"]);
  assertFalse(/[\r\n\u2028]/.test(mail.subject));
  assert(mail.subject.length <= 200);
});

Deno.test("deliveryFault() tells what a repeat can mend from what it cannot", () => {
  const nameOf = (error: object, handedOver = false) =>
    deliveryFault(Object.assign(new Error("x"), error), handedOver).name;
  assertEquals(nameOf({ code: "EENVELOPE", responseCode: 550 }), "PermanentDeliveryError");
  assertEquals(nameOf({ code: "EMESSAGE", responseCode: 554 }, true), "PermanentDeliveryError");
  assertEquals(nameOf({ code: "EENVELOPE" }), "PermanentDeliveryError");
  assertEquals(nameOf({ code: "EENVELOPE", responseCode: 451 }), "Error");
  assertEquals(nameOf({ code: "EPROTOCOL", responseCode: 503 }), "Error");
  assertEquals(nameOf({ code: "EAUTH", responseCode: 535 }), "Error");
  assertEquals(nameOf({ code: "ECONNECTION" }), "Error");
  // Nothing was sent: no attempt of it is used up.
  assertEquals(nameOf({ code: "ESOCKET", syscall: "connect" }), "RetryLaterError");
  assertEquals(nameOf({ code: "ECONNECTION" }, true), "UncertainDeliveryError");
  assertEquals(nameOf({ code: "ETIMEDOUT" }, true), "UncertainDeliveryError");
  assertEquals(nameOf({ code: "EMESSAGE", responseCode: 421 }, true), "Error");
});

Deno.test("AnswerLimit counts a mail once, over restarts too, for an hour (C37)", async () => {
  const stateDir = await Deno.makeTempDir();
  const clock = fakeClock();
  const open = () => new AnswerLimit({ stateDir, max: 2, clock });
  const limit = open();
  assertEquals(
    await Promise.all(["1", "1", "2", "2", "3"].map((id) => limit.take("a@x.y", id))),
    [true, true, true, true, false],
  );
  assertEquals(await limit.take("b@x.y", "3"), true);
  assertEquals(await open().take("a@x.y", "4"), false);
  assertEquals(await open().take("a@x.y", "2"), true);
  clock.tick(60 * 60 * 1_000);
  assertEquals(await open().take("a@x.y", "4"), true);
  await Deno.writeTextFile(`${stateDir}/sent.json`, "[[1");
  assertEquals(await open().take("a@x.y", "9"), true);
  await Deno.writeTextFile(`${stateDir}/sent.json`, '[["a@x.y", 7]]');
  assertEquals(await open().take("a@x.y", "9"), true);
  await Deno.remove(stateDir, { recursive: true });
});

Deno.test("outgoingFiles() leaves out what is gone or does not fit, and says so", async () => {
  const dir = await Deno.makeTempDir();
  await Deno.writeFile(`${dir}/a.bin`, new Uint8Array(10));
  await Deno.truncate(`${dir}/a.bin`, MAX_FILES_BYTES - 5);
  await Deno.writeTextFile(`${dir}/b.txt`, "0123456789");
  await Deno.writeTextFile(`${dir}/c.txt`, "0");
  const { files, leftOut } = await outgoingFiles(
    ["a.bin", "b.txt", "c.txt", "gone.txt", "."].map((name) => `${dir}/${name}`),
  );
  assertEquals(files.map(({ name }) => name), ["a.bin", "c.txt"]);
  assertEquals(leftOut.length, 3);
  assertStringIncludes(leftOut[0]!, "b.txt is too large");
  assertMatch(leftOut[1]!, /gone\.txt cannot be read/);
  await Deno.remove(dir, { recursive: true });
});
