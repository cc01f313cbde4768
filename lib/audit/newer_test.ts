import { assertEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { AUDIT_FILE } from "./files.ts";
import { auditFixture } from "./testing/audit_fixture.ts";

Deno.test("openAudit() and verifyAudit() say of a log of a newer program whose it is, and leave it as it is", async () => {
  await using audit = await auditFixture();
  await audit.write(3);
  const path = `${audit.dir}/${AUDIT_FILE}`;
  const lines = (await audit.lines()).map((line) => JSON.parse(line));
  lines.at(-1).v = 2;
  const text = lines.map((line) => JSON.stringify(line) + "\n").join("");
  await Deno.writeTextFile(path, text);
  const error = await assertRejects(() => audit.open(), ServiceError, "a newer program wrote");
  assertEquals(error.code, "audit_unavailable");
  assertEquals(await Deno.readTextFile(path), text);
  const finding = await audit.verify();
  assertEquals(finding.ok ? undefined : finding.problem, "newer");
});
