import { assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { openOperatorState } from "./operator_state.ts";

const ANN = { channel: "chat", runtimeName: "chat", senderId: "ann", senderName: "Ann" };

async function withStore(
  run: (
    pairings: Awaited<ReturnType<typeof openOperatorState>>["pairings"],
    clock: { now: number },
    dir: string,
  ) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir();
  const clock = { now: 1_000_000 };
  const state = await openOperatorState({
    dir: `${dir}/operator`,
    keysDir: `${dir}/keys`,
    now: () => clock.now,
  });
  try {
    await run(state.pairings, clock, `${dir}/operator`);
  } finally {
    await state.close();
    await Deno.remove(dir, { recursive: true });
  }
}

const codeOf = async (wrong: Promise<unknown>) =>
  ((await assertRejects(() => wrong)) as ServiceError).code;

Deno.test("ask() gives a stranger one code an hour, which is found however it is typed", () =>
  withStore(async (pairings, clock) => {
    const { code, createdAt } = (await pairings.ask(ANN))!;
    assertMatch(code, /^[abcdefghijkmnpqrstuvwxyz23456789]{8}$/);
    assertEquals([await pairings.ask(ANN), createdAt], [undefined, 1_000_000]);
    // Of another instance it is another matter.
    const other = (await pairings.ask({ ...ANN, runtimeName: "chat.two", instanceId: "two" }))!;
    assertNotEquals(other.code, code);
    assertEquals(pairings.list().map(({ runtimeName }) => runtimeName), ["chat", "chat.two"]);
    const typed = ` ${code.slice(0, 4).toUpperCase()}-${code.slice(4)} `;
    assertEquals(await pairings.find(typed), { ...ANN, code, createdAt });
    await pairings.remove(code);
    assertEquals(await codeOf(pairings.find(code)), "not_found");
    clock.now += 59 * 60_000;
    assertEquals((await pairings.find(other.code)).instanceId, "two");
    clock.now += 60_000;
    assertEquals(await codeOf(pairings.find(other.code)), "not_found");
    assertEquals([pairings.list(), (await pairings.ask(ANN))?.code === code], [[], false]);
  }));

Deno.test("ask() gives no more codes than an instance may have, and others theirs", () =>
  withStore(async (pairings) => {
    const asked = [];
    for (let n = 0; n < 25; n++) asked.push(await pairings.ask({ ...ANN, senderId: `${n}` }));
    assertEquals(asked.filter((each) => each !== undefined).length, 20);
    assertEquals((await pairings.ask({ ...ANN, runtimeName: "chat.two" }))?.senderId, "ann");
  }));

Deno.test("dismiss() ends a code, and its stranger is given no other one within the hour", () =>
  withStore(async (pairings, clock) => {
    const { code } = (await pairings.ask(ANN))!;
    const other = (await pairings.ask({ ...ANN, senderId: "bob" }))!;
    await pairings.dismiss(code);
    assertEquals(pairings.list().map(({ senderId }) => senderId), ["bob"]);
    assertEquals(await codeOf(pairings.find(code)), "not_found");
    assertEquals([await pairings.ask(ANN), (await pairings.find(other.code)).senderId], [
      undefined,
      "bob",
    ]);
    clock.now += 3_600_000;
    assertEquals((await pairings.ask(ANN))?.senderId, "ann");
  }));

Deno.test("find() takes ten wrong codes an hour, and then not even the right one", () =>
  withStore(async (pairings, clock) => {
    const { code } = (await pairings.ask(ANN))!;
    for (let n = 0; n < 10; n++) {
      assertEquals(await codeOf(pairings.find(`wrong${n}`)), "not_found");
    }
    const error = await assertRejects(() => pairings.find(code), ServiceError);
    assertEquals([error.code, error.details.retryAfterS], ["overloaded", 3_600]);
    clock.now += 3_600_000;
    assertEquals(await codeOf(pairings.find(code)), "not_found");
  }));

Deno.test("a damaged file of codes begins anew", () =>
  withStore(async (pairings, _, dir) => {
    await pairings.ask(ANN);
    await Deno.writeTextFile(`${dir}/pairings.json`, "{}");
    assertEquals(pairings.list(), []);
    assertEquals((await pairings.ask({ ...ANN, senderId: "bob" }))?.senderId, "bob");
    assertEquals(pairings.list().length, 1);
  }));
