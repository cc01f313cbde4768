import { assertEquals, assertMatch } from "@std/assert";
import { FakeSignal } from "./testing/fake_signal.ts";
import { validate } from "./validation.ts";

const context = (allowLocalServiceAccess = true) => ({
  allowLocalServiceAccess,
  signal: new AbortController().signal,
});

Deno.test("validate() asks signal-cli for the account, and names those that it has", async () => {
  const signal = await FakeSignal.open();
  const { section } = signal;
  assertEquals(await validate(section, context()), []);
  assertEquals(await validate({ ...section, account: " +49 151 0000-0000 " }, context()), []);
  const [unknown] = await validate({ ...section, account: "+4917612345678" }, context());
  assertEquals([unknown!.level, unknown!.field], ["error", "account"]);
  assertMatch(unknown!.message, /has \+4915100000000\. Link it: service channels login signal$/);
  signal.hasOneAccount = true;
  assertEquals(await validate({ ...section, account: "+4917612345678" }, context()), []);
  await signal.close();
  const [away] = await validate(section, context());
  assertEquals([away!.level, away!.field], ["warning", "host"]);
});

Deno.test("validate() refuses what is no number, and a host that channels may not use", async () => {
  const section = { account: "Ann", host: "127.0.0.1", port: 1 };
  const [number] = await validate(section, context());
  assertMatch(number!.message, /^account is "Ann": expected a phone number/);
  const [local] = await validate({ ...section, account: "+4915100000000" }, context(false));
  assertEquals([local!.level, local!.field], ["error", "host"]);
});
