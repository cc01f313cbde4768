import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { tempState } from "./testing/temp_state.ts";

const WAITING = {
  id: "apr_1",
  digest: "d",
  capability: "exec",
  tool: "exec",
  target: "make",
  session: "api:a",
  channel: "api",
  actor: "api:key",
  createdAt: 1,
  expiresAt: 2,
} as const;

Deno.test("G11 takeAll() leaves a damaged key where it is, so that an operator can mend it", async () => {
  await using temp = await tempState();
  const before = await temp.open();
  const { token } = await before.tokens.issue({ name: "me", scopes: ["approve"] });
  await before.pending.add(WAITING);
  await before.close();
  const key = `${temp.keysDir}/operator.key`;
  await Deno.chmod(key, 0o644);

  const started = await temp.open();
  assertEquals(await started.pending.takeAll(), []);
  await assertRejects(() => started.pending.add(WAITING), ServiceError, "has the mode 644");
  assertMatch(started.damaged() ?? "", /has the mode 644/);
  await started.close();

  await Deno.chmod(key, 0o600);
  const mended = await temp.open();
  assertEquals(mended.damaged(), undefined);
  assertEquals(mended.tokens.verify(token)?.name, "me");
  assertEquals((await mended.pending.takeAll()).map(({ id }) => id), ["apr_1"]);
  await mended.close();
});

Deno.test("takeAll() begins with an empty file when the file alone is damaged", async () => {
  await using temp = await tempState();
  const before = await temp.open();
  const { token } = await before.tokens.issue({ name: "me", scopes: ["approve"] });
  await before.pending.add(WAITING);
  await before.close();
  await Deno.writeTextFile(`${temp.dir}/pending.json`, "cut");

  const started = await temp.open();
  assertEquals(await started.pending.takeAll(), []);
  await started.pending.add(WAITING);
  assertEquals((await started.pending.takeAll()).length, 1);
  assertEquals(started.tokens.verify(token)?.name, "me");
  await started.close();
  assertEquals(temp.records.filter(({ kind }) => kind === "state.reset").length, 1);
});
