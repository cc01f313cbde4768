import { assertRejects, assertStringIncludes } from "@std/assert";
import { makePipe } from "../../tests/support/make_pipe.ts";
import { ServiceError } from "../base/errors.ts";
import { auditFixture } from "./testing/audit_fixture.ts";

const PLACES: readonly [string, (path: string) => Promise<void>][] = [
  ["a folder", (path) => Deno.mkdir(path)],
  ["a pipe", (path) => Promise.resolve(makePipe(path))],
];

for (const [what, make] of PLACES) {
  for (
    const name of ["audit/audit.jsonl", "audit/checkpoint.json", "audit/audit.pub", "mirror.jsonl"]
  ) {
    Deno.test(`verifyAudit() says that ${name} is no file when it is ${what}, and does not wait`, async () => {
      await using audit = await auditFixture();
      await audit.write(3);
      const path = `${audit.root}/${name}`;
      await Deno.remove(path).catch(() => {});
      await make(path);
      const error = await assertRejects(
        () => audit.verify({ mirror: audit.mirror }),
        ServiceError,
      );
      assertStringIncludes(error.message, `"${path}" is no file`);
    });
  }

  Deno.test(`openAudit() refuses to write to ${what}`, async () => {
    await using audit = await auditFixture();
    await audit.write(3);
    const path = `${audit.dir}/audit.jsonl`;
    await Deno.remove(path);
    await make(path);
    const error = await assertRejects(() => audit.open(), ServiceError);
    assertStringIncludes(error.message, `"${path}" is no file`);
  });
}
