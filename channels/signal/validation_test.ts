import { assertEquals, assertMatch } from "@std/assert";
import { checkSection } from "../../lib/channel/testing/check_section.ts";
import manifest from "./manifest.ts";
import { FakeSignal } from "./testing/fake_signal.ts";
import { validate } from "./validation.ts";

const check = (section: object, allowLocal = true) =>
  checkSection({ descriptor: manifest, validate }, { ...section }, { allowLocal });

Deno.test("validate() asks signal-cli for the account, and names those that it has", async () => {
  const signal = await FakeSignal.open();
  const { section } = signal;
  assertEquals(await check(section), []);
  assertEquals(await check({ ...section, account: " +49 151 0000-0000 " }), []);
  const [unknown] = await check({ ...section, account: "+4917612345678" });
  assertEquals([unknown!.level, unknown!.field], ["error", "account"]);
  assertMatch(unknown!.message, /has \+4915100000000\. Link it: service channels login signal$/);
  signal.hasOneAccount = true;
  assertEquals(await check({ ...section, account: "+4917612345678" }), []);
  await signal.close();
  const [away] = await check(section);
  assertEquals([away!.level, away!.field], ["warning", "host"]);
});

Deno.test("what is no number is refused, and a host that channels may not use", async () => {
  const [number] = await check({ account: "Ann" });
  assertMatch(number!.message, /account.*a number with its country code/);
  const [local] = await check({ account: "+4915100000000" }, false);
  assertEquals([local!.level, local!.field], ["error", "host"]);
});
