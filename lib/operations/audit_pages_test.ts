import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { auditFixture } from "../audit/testing/audit_fixture.ts";
import { auditPages } from "./audit_pages.ts";

Deno.test("auditPages() verifies one at a time, and again after that", async () => {
  await using fixture = await auditFixture();
  const { dir: auditDir, keysDir } = fixture;
  await fixture.write(20);
  const audit = auditPages({ auditDir, keysDir, mirror: fixture.mirror });
  const first = audit.verify();
  const error = await assertRejects(() => audit.verify(), ServiceError);
  assertEquals(error.code, "overloaded");
  const verdict = await first;
  assertEquals([verdict.ok, verdict.mirror], [true, fixture.mirror]);

  const path = `${auditDir}/audit.jsonl`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace('"index":7', '"index":8'));
  const after = await audit.verify();
  assertEquals([after.ok, after.problem], [false, "edited"]);
});

Deno.test("auditPages() reads four pages at a time and refuses a fifth", async () => {
  await using fixture = await auditFixture();
  await fixture.write(5);
  const { dir: auditDir, keysDir } = fixture;
  const audit = auditPages({ auditDir, keysDir, mirror: "" });
  const list = () => audit.list({ filter: {}, limit: 3 });
  const four = [list(), list(), list(), list()];
  const error = await assertRejects(list, ServiceError);
  assertEquals(error.code, "overloaded");
  await Promise.all(four);
  await list();
});
