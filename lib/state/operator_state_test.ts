import { assert, assertEquals, assertRejects } from "@std/assert";
import { mountNeeds, mountSmallDisk } from "../../tests/support/mounts.ts";
import { needs } from "../../tests/support/needs.ts";
import { ServiceError } from "../base/errors.ts";
import { findStateDamage } from "./operator_state.ts";
import { STATE_KEY_FILE } from "./state_key.ts";
import { tempState } from "./testing/temp_state.ts";

const APPROVER = { name: "ann", scopes: ["approve"] as const };
const LATCH = { sessionKey: "api:a", capability: "exec", reason: "no" } as const;
const GRANT = {
  subject: "automation:1",
  capability: "net.fetch",
  target: "https://example.com/",
  note: "",
} as const;

Deno.test("openOperatorState() begins empty, and its folders and files are the owner's alone", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  assertEquals([state.tokens.list(), state.grants.list(), state.latches.list()], [[], [], []]);
  assertEquals(state.damaged(), undefined);
  await state.tokens.issue(APPROVER);
  await state.latches.set(LATCH);
  const mode = async (path: string) => (await Deno.stat(path)).mode! & 0o777;
  assertEquals([await mode(temp.dir), await mode(temp.keysDir)], [0o700, 0o700]);
  for (const dir of [temp.dir, temp.keysDir]) {
    for await (const { name } of Deno.readDir(dir)) {
      assertEquals([name, await mode(`${dir}/${name}`)], [name, 0o600]);
    }
  }
  await state.close();
});

Deno.test("openOperatorState() notices at once what another process has changed", async () => {
  await using temp = await tempState();
  const service = await temp.open();
  const command = await temp.open({ audit: undefined });
  const { token, info } = await command.tokens.issue(APPROVER);
  assertEquals(service.tokens.verify(token)?.id, info.id);
  await command.tokens.revoke(info.id);
  assertEquals(service.tokens.verify(token), undefined);
  const grant = await command.grants.add(GRANT);
  assertEquals(
    service.grants.find({ subject: GRANT.subject }, GRANT.capability, GRANT.target),
    grant,
  );
  await command.grants.remove(grant.id);
  assertEquals(
    service.grants.find({ subject: GRANT.subject }, GRANT.capability, GRANT.target),
    undefined,
  );
  await Promise.all([service.close(), command.close()]);
});

Deno.test("openOperatorState() gives its audit every change, also of processes without one", async () => {
  await using temp = await tempState();
  const service = await temp.open();
  const command = await temp.open({ audit: undefined });
  const { info } = await command.tokens.issue(APPROVER);
  await command.grants.add(GRANT);
  await command.tokens.revoke(info.id);
  assertEquals(temp.records, []);
  service.tokens.list();
  await service.record();
  await service.latches.set(LATCH);
  await service.latches.clear(LATCH.sessionKey, LATCH.capability);
  assertEquals(temp.records.map(({ kind, data }) => [kind, data.change]), [
    ["token.issued", "tokens:1:0"],
    ["token.revoked", "tokens:2:0"],
    ["grant.added", "grants:1:0"],
    ["latch.set", "latches:1:0"],
    ["latch.cleared", "latches:3:0"],
  ]);
  await service.close();
  assertEquals(temp.records.length, 5);
});

Deno.test("openOperatorState() tells its audit of others' changes also when nobody uses it", async () => {
  await using temp = await tempState();
  const told = Promise.withResolvers<unknown>();
  const append = (kind: unknown) => Promise.resolve(told.resolve(kind));
  const service = await temp.open({ audit: { append }, watchMs: 1 });
  const command = await temp.open({ audit: undefined });
  // The look-out keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  await command.tokens.issue(APPROVER);
  assertEquals(await told.promise, "token.issued");
  clearInterval(alive);
  await service.close();
  await command.close();
});

Deno.test("openOperatorState() says which folders it cannot use", async () => {
  await using temp = await tempState();
  await Deno.writeTextFile(temp.dir, "");
  const error = await assertRejects(() => temp.open(), ServiceError, temp.dir);
  assertEquals(error.code, "config_invalid");
});

Deno.test("openOperatorState() keeps what the audit did not take", async () => {
  await using temp = await tempState();
  let isFull = true;
  const errors: string[] = [];
  const append: typeof temp.audit.append = async (kind, data) => {
    if (isFull && kind === "grant.added") throw new Error("disk full");
    await temp.audit.append(kind, data);
  };
  const state = await temp.open({
    audit: { append },
    log: { error: (message) => void errors.push(message) },
  });
  await state.tokens.issue(APPROVER);
  await state.grants.add(GRANT);
  assertEquals(errors, ["What operators changed is not in the audit yet"]);
  await assertRejects(() => state.record(), Error, "disk full");
  isFull = false;
  await state.close();
  const again = await temp.open();
  await again.close();
  assertEquals(temp.records.map(({ kind }) => kind), ["token.issued", "grant.added"]);
});

Deno.test("G10 a latch outlives restarts, and that it was cleared is on record", async () => {
  await using temp = await tempState();
  const first = await temp.open();
  const latch = await first.latches.set(LATCH);
  await first.close();
  const second = await temp.open();
  assertEquals(second.latches.find("api:a", "exec"), latch);
  assertEquals(second.latches.find("api:a", "net.fetch"), undefined);
  assertEquals(second.latches.find("api:b", "exec"), undefined);
  assertEquals(await second.latches.clear("api:a", "exec"), true);
  assertEquals(await second.latches.clear("api:a", "exec"), false);
  await second.close();
  const third = await temp.open();
  assertEquals(third.latches.find("api:a", "exec"), undefined);
  assertEquals(temp.records.map(({ kind }) => kind), ["latch.set", "latch.cleared"]);
  await third.close();
});

Deno.test("G11 damage of latches or grants is said, refuses changes, and ends with a reset on record", async () => {
  for (const name of ["latches", "grants"] as const) {
    await using temp = await tempState();
    const state = await temp.open();
    await state.latches.set(LATCH);
    await state.grants.add(GRANT);
    await Deno.remove(`${temp.dir}/${name}.json`);
    assert(state.damaged()!.includes(`${name}.json`), state.damaged());
    const command = name === "latches" ? "blocks" : name;
    const change = () =>
      name === "latches" ? state.latches.set(LATCH) : state.grants.add({ ...GRANT, note: "x" });
    const error = await assertRejects(change, ServiceError, `service ${command} reset`);
    assertEquals(error.code, "refused");
    assertEquals(await state[name].reset(), true);
    assertEquals(await state[name].reset(), false);
    assertEquals(state.damaged(), undefined);
    assertEquals(
      temp.records.filter(({ kind }) => kind === "state.reset").map(({ data }) => data.file),
      [
        name,
      ],
    );
    await state.close();
  }
});

Deno.test("openOperatorState() logs what is damaged, and findStateDamage() finds it and changes nothing", async () => {
  await using temp = await tempState();
  assertEquals(findStateDamage(temp), []);
  assertEquals([...Deno.readDirSync(temp.root)], []);
  const state = await temp.open();
  await state.latches.set(LATCH);
  await state.close();
  assertEquals(findStateDamage(temp), []);
  await Deno.remove(`${temp.dir}/latches.json`);
  const [found, ...more] = findStateDamage(temp);
  assertEquals([found?.name, found?.repair, more], ["latches", "service blocks reset", []]);
  const logged: unknown[] = [];
  const log = { error: (_: string, fields?: Record<string, unknown>) => void logged.push(fields) };
  const again = await temp.open({ log });
  assertEquals(logged, [{ file: "latches", reason: found!.damaged }]);
  await again.close();
});

Deno.test({
  ...needs(
    "openOperatorState() keeps what it has on a disk that is full, and goes on when it is not",
    ...mountNeeds(),
  ),
  async fn() {
    await using temp = await tempState();
    const disk = mountSmallDisk(temp.root);
    try {
      const state = await temp.open({ audit: undefined });
      const { token } = await state.tokens.issue(APPROVER);
      await state.latches.set(LATCH);
      const filler = `${temp.root}/filler`;
      await Deno.writeFile(filler, new Uint8Array(64 * 1024)).catch(() => {});
      const full = await assertRejects(() => state.tokens.issue(APPROVER), ServiceError);
      assertEquals(full.code, "internal");
      await assertRejects(() => state.latches.set({ ...LATCH, sessionKey: "api:b" }), ServiceError);
      await assertRejects(() => state.latches.clear("api:a", "exec"), ServiceError);
      assertEquals(findStateDamage(temp), []);
      assert(state.tokens.verify(token) !== undefined);
      assert(state.latches.find("api:a", "exec") !== undefined);
      assert(state.latches.find("api:b", "exec") !== undefined);
      await Deno.remove(filler);
      await state.tokens.issue(APPROVER);
      assertEquals(await state.latches.clear("api:a", "exec"), true);
      await state.close();
      const again = await temp.open();
      assertEquals(again.latches.list().map(({ sessionKey }) => sessionKey), ["api:b"]);
      assertEquals(again.tokens.list().length, 2);
      await again.close();
    } finally {
      disk[Symbol.dispose]();
    }
  },
});

Deno.test("G11 a latch holds in its process when the disk does not take it, and is written later", async () => {
  await using temp = await tempState();
  let isFull = true;
  const { writeFileAtomic } = await import("../base/atomic_write.ts");
  const state = await temp.open({
    write: (...args) =>
      isFull ? Promise.reject(new Error("No space left on device")) : writeFileAtomic(...args),
  });
  await assertRejects(() => state.latches.set(LATCH), ServiceError, "No space left");
  const held = state.latches.find("api:a", "exec");
  assert(held !== undefined && "reason" in held);
  assertEquals(state.latches.list().length, 1);
  isFull = false;
  await state.close();
  const again = await temp.open();
  assertEquals(again.latches.find("api:a", "exec"), held);
  await again.close();
});

Deno.test("takeAll() voids what a restart left, with a record of each, once", async () => {
  await using temp = await tempState();
  const approval = (id: string) => ({
    id,
    digest: "0".repeat(64),
    capability: "exec" as const,
    tool: "exec",
    target: "ls",
    details: "a secret text",
    session: "api:a",
    channel: "api",
    actor: "api:anonymous",
    createdAt: 1,
    expiresAt: 2,
  });
  const first = await temp.open();
  await Promise.all(["apr_1", "apr_2", "apr_3"].map((id) => first.pending.add(approval(id))));
  await first.pending.remove("apr_2");
  await first.pending.remove("apr_9");
  assert(!(await Deno.readTextFile(`${temp.dir}/pending.json`)).includes("a secret text"));
  // Not closed: its process was killed.
  const second = await temp.open();
  assertEquals((await second.pending.takeAll()).map(({ id }) => id), ["apr_1", "apr_3"]);
  assertEquals(await second.pending.takeAll(), []);
  assertEquals(temp.records.map(({ kind, data }) => [kind, data.id]), [
    ["approval.void", "apr_1"],
    ["approval.void", "apr_3"],
  ]);
  await Deno.writeTextFile(`${temp.dir}/pending.json`, "damaged");
  assertEquals(await second.pending.takeAll(), []);
  assertEquals(temp.records.at(-1)!.kind, "state.reset");
  await second.pending.add(approval("apr_4"));
  await Deno.remove(`${temp.dir}/pending.json`);
  await second.pending.remove("apr_4");
  await second.pending.add(approval("apr_5"));
  assertEquals((await second.pending.takeAll()).map(({ id }) => id), ["apr_5"]);
  await second.close();
});

Deno.test("note() sets a damaged file of its own aside, and never the key that the others need", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  await state.grants.add(GRANT);
  await state.note("settings.change", { keys: [] });
  await state.close();
  await Deno.writeTextFile(`${temp.dir}/notes.json`, "?");
  const again = await temp.open();
  await again.note("settings.change", { keys: [] });
  await again.close();
  assertEquals(findStateDamage(temp), []);

  const keyFile = `${temp.keysDir}/${STATE_KEY_FILE}`;
  const key = await Deno.readFile(keyFile);
  await Deno.writeTextFile(keyFile, "?");
  const damaged = await temp.open();
  await assertRejects(
    () => damaged.note("settings.change", { keys: [] }),
    ServiceError,
    "service doctor",
  );
  await damaged.close();
  assertEquals(await Deno.readTextFile(keyFile), "?");
  await Deno.writeFile(keyFile, key);
  const restored = await temp.open();
  assertEquals(restored.grants.list().length, 1);
  await restored.close();
});
