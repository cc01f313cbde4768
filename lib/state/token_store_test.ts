import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { ServiceError } from "../base/errors.ts";
import { tempState } from "./testing/temp_state.ts";
import { includesScope } from "../contract/credentials.ts";
import { MAX_TOKENS } from "./token_store.ts";

const APPROVER = { name: "ann", scopes: ["approve"] as const };

Deno.test("issue() gives a token that is nowhere on the disk, and verify() knows its owner", async () => {
  await using temp = await tempState();
  const { tokens, close } = await temp.open();
  const { token, info } = await tokens.issue({ name: "ann", scopes: ["operate", "approve"] });
  assertMatch(token, /^sat_[A-Za-z0-9_-]{43}$/);
  assertMatch(info.id, /^tok_[a-z0-9]{16}$/);
  assertEquals(tokens.verify(token), { id: info.id, name: "ann", scopes: ["operate", "approve"] });
  await close();
  for (const dir of [temp.dir, temp.keysDir]) {
    for await (const { name } of Deno.readDir(dir)) {
      assert(!(await Deno.readTextFile(`${dir}/${name}`)).includes(token.slice(4)), name);
    }
  }
  assert(!JSON.stringify(temp.records).includes(token.slice(4)));
  assertEquals(temp.records.map(({ kind, data }) => [kind, data.id, data.name]), [
    ["token.issued", info.id, "ann"],
  ]);
});

Deno.test("verify() takes nothing but whole tokens in force", async () => {
  await using temp = await tempState();
  const { tokens, close } = await temp.open();
  const { token, info } = await tokens.issue(APPROVER);
  const { token: other } = await tokens.issue({ name: "bob", scopes: ["operate"] });
  const wrong = [
    "",
    "sat_",
    token.slice(0, -1),
    `${token}A`,
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
    token.replace("sat_", "swt_"),
    token.slice(0, -5) + other.slice(-5),
    `sat_${"ä".repeat(43)}`,
    `sat_${"A".repeat(1_000_000)}`,
    info.id,
  ];
  for (const text of wrong) assertEquals(tokens.verify(text), undefined, text.slice(0, 60));
  assertEquals(tokens.verify(token)?.name, "ann");
  assertEquals((await tokens.revoke(info.id)).id, info.id);
  assertEquals(tokens.verify(token), undefined);
  assertEquals(tokens.verify(other)?.name, "bob");
  assertEquals(tokens.list().map(({ name }) => name), ["bob"]);
  const error = await assertRejects(() => tokens.revoke(info.id), ServiceError);
  assertEquals(error.code, "not_found");
  await close();
});

Deno.test("verify() refuses after the expiry, by the clock that there is, and expired ones are forgotten", async () => {
  await using temp = await tempState();
  let now = 1_000;
  const state = await temp.open({ now: () => now });
  const { tokens } = state;
  const { token } = await tokens.issue({ ...APPROVER, expiresAt: 2_000 });
  assertEquals(tokens.hasAny("approve"), true);
  now = 1_999;
  assert(tokens.verify(token) !== undefined);
  for (now of [2_000, 9e14]) {
    assertEquals([tokens.verify(token), tokens.list(), tokens.hasAny("approve")], [
      undefined,
      [],
      false,
    ]);
  }
  // The next change takes it out for good, also for a clock that is set back.
  now = 3_000;
  await tokens.issue({ name: "bob", scopes: ["approve"] });
  now = 1_500;
  assertEquals(tokens.verify(token), undefined);
  assertEquals(tokens.list().map(({ name }) => name), ["bob"]);
  await state.close();
});

Deno.test("hasAny() knows that who operates approves, and not the other way", async () => {
  await using temp = await tempState();
  const { tokens, close } = await temp.open();
  assertEquals([tokens.hasAny("approve"), tokens.hasAny("operate")], [false, false]);
  const { info } = await tokens.issue(APPROVER);
  assertEquals([tokens.hasAny("approve"), tokens.hasAny("operate")], [true, false]);
  await tokens.revoke(info.id);
  await tokens.issue({ name: "", scopes: ["operate"] });
  assertEquals([tokens.hasAny("approve"), tokens.hasAny("operate")], [true, true]);
  assertEquals(includesScope(["operate"], "approve"), true);
  assertEquals(includesScope(["approve"], "operate"), false);
  await close();
});

Deno.test("issue() refuses what is no name, scope or time to come, naming the field", async () => {
  await using temp = await tempState();
  const { tokens, close } = await temp.open({ now: () => 1_000 });
  const cases: [string, Parameters<typeof tokens.issue>[0]][] = [
    ["name", { ...APPROVER, name: "x".repeat(101) }],
    ["name", { ...APPROVER, name: "a\u202eb" }],
    ["name", { ...APPROVER, name: "a\nb" }],
    ["scopes", { ...APPROVER, scopes: [] }],
    ["scopes", { ...APPROVER, scopes: ["root" as "approve"] }],
    ["expires", { ...APPROVER, expiresAt: 1_000 }],
    ["expires", { ...APPROVER, expiresAt: NaN }],
    ["expires", { ...APPROVER, expiresAt: Infinity }],
  ];
  for (const [param, token] of cases) {
    const error = await assertRejects(() => tokens.issue(token), ServiceError);
    assertEquals([error.code, error.details.param], ["invalid_request", param]);
  }
  assertEquals([tokens.list(), temp.records], [[], []]);
  await close();
});

Deno.test("list() says when a token was last used, also after a restart, with few writes", async () => {
  await using temp = await tempState();
  let now = 1_000_000;
  const first = await temp.open({ now: () => now });
  const { token, info } = await first.tokens.issue(APPROVER);
  const counter = async () => {
    const [header] = (await Deno.readTextFile(`${temp.dir}/tokens.json`)).split("\n");
    return JSON.parse(header!).counter;
  };
  const before = await counter();
  for (let use = 0; use < 1_000; use++) {
    now += 10;
    assert(first.tokens.verify(token) !== undefined);
  }
  assertEquals(first.tokens.list()[0]!.lastUsedAt, now);
  await first.close();
  assert(await counter() - before <= 2);
  const second = await temp.open();
  assertEquals(second.tokens.list(), [{ ...info, lastUsedAt: now }]);
  await second.close();
});

Deno.test("issue() makes no more tokens than there may be, and verify() knows each of them", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  const { token } = await state.tokens.issue(APPROVER);
  await fill(temp, MAX_TOKENS - 1);
  const error = await assertRejects(() => state.tokens.issue(APPROVER), ServiceError);
  assertEquals(error.code, "invalid_request");
  assert(state.tokens.verify(token) !== undefined);
  assertEquals(state.tokens.list().length, MAX_TOKENS);
  await state.close();
});

/** Puts tokens into the file as another process would. */
async function fill(temp: { dir: string; keysDir: string }, count: number): Promise<void> {
  const { SealedFile } = await import("./sealed_file.ts");
  const { StateLock } = await import("./state_lock.ts");
  const file = new SealedFile<readonly unknown[]>({
    name: "tokens",
    dir: temp.dir,
    keysDir: temp.keysDir,
    lock: new StateLock({ path: `${temp.dir}/lock` }),
    empty: [],
    parse: (value) => value as unknown[],
    maxBytes: 16 * 1024 * 1024,
    repair: "",
    now: Date.now,
  });
  await file.update((all) => ({
    value: [
      ...all,
      ...Array.from({ length: count }, (_, index) => ({
        id: `tok_${index}`,
        name: "ü".repeat(100),
        scopes: ["approve"],
        createdAt: Date.now(),
        hash: index.toString(16).padStart(64, "0"),
      })),
    ],
    result: undefined,
  }));
}
