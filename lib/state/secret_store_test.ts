import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { writeFileAtomic } from "../base/atomic_write.ts";
import { readSecrets } from "./operator_state.ts";
import { openText, sealText } from "./sealed_text.ts";
import type { Secret } from "../contract/secrets.ts";
import { readStateKey, type Seal } from "./state_key.ts";
import type { StoredSecrets } from "./stored_secrets.ts";
import { type TempState, tempState } from "./testing/temp_state.ts";
import { FULL_RUN, rounds } from "../../tests/support/rounds.ts";
import { anyString } from "../../tests/support/any_string.ts";
import { needs } from "../../tests/support/needs.ts";

const VALUE = "hunter2-hunter2";
const SCOPE = { hosts: ["api.example.com", "*.example.org:8443"], commands: ['["git","push"]'] };

function files(temp: TempState) {
  return {
    path: `${temp.dir}/secrets.json`,
    key: `${temp.keysDir}/secrets.key`,
    anchor: `${temp.keysDir}/operator-secrets.json`,
  };
}

/** Every text that is on the disk. */
function everyText(temp: TempState): string {
  return [temp.dir, temp.keysDir].flatMap((dir) =>
    [...Deno.readDirSync(dir)].map(({ name }) => Deno.readTextFileSync(`${dir}/${name}`))
  ).join("\n");
}

/** Edits what the file holds and seals it again, as somebody can who has the key of the seal. */
async function reseal(
  temp: TempState,
  edit: (held: { value: StoredSecrets }) => void,
): Promise<void> {
  const { path } = files(temp);
  const seal = readStateKey(temp.keysDir) as Seal;
  const sealed = openText(await Deno.readTextFile(path), "secrets", seal);
  assert("body" in sealed);
  edit(sealed.body as { value: StoredSecrets });
  await Deno.writeTextFile(path, sealText(sealed, seal));
}

Deno.test("deriveKey() is the same after a restart, another for each purpose, and never the key itself", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  const [one, other] = await Promise.all(["a", "b"].map((name) => state.secrets.deriveKey(name)));
  assertEquals([one!.length, other!.length], [32, 32]);
  assertNotEquals(one!.toHex(), other!.toHex());
  await state.close();
  const again = await temp.open();
  assertEquals((await again.secrets.deriveKey("a")).toHex(), one!.toHex());
  assert(!everyText(temp).includes(one!.toBase64()));
  await again.secrets.set({ name: "TOKEN", value: VALUE });
  assertEquals((await again.secrets.deriveKey("a")).toHex(), one!.toHex());
  await again.close();
  // With another key there would be another one: nothing is opened by what was derived from that.
  await Deno.remove(files(temp).key);
  const broken = await temp.open();
  await assertRejects(() => broken.secrets.deriveKey("a"), ServiceError);
});

Deno.test("set() keeps a value that only reveal() gives back, also after a restart", async () => {
  await using temp = await tempState();
  const state = await temp.open({ now: () => 1_000 });
  const info = await state.secrets.set({ name: "TOKEN", value: VALUE, ...SCOPE });
  assertEquals(info, { name: "TOKEN", ...SCOPE, createdAt: 1_000, updatedAt: 1_000 });
  assertEquals(state.secrets.list(), [info]);
  await state.close();

  const again = await temp.open({ now: () => 2_000 });
  assertEquals(again.secrets.reveal("TOKEN"), { ...info, value: VALUE });
  assertEquals(again.secrets.reveal("OTHER"), undefined);
  assertEquals(again.secrets.revealAll(), [{ ...info, value: VALUE }]);
  const renewed = await again.secrets.set({ name: "TOKEN", value: "another value" });
  assertEquals(renewed, { ...info, updatedAt: 2_000 }, "its scope stays");
  await again.secrets.set({ name: "TOKEN", value: "another value", hosts: [], commands: [] });
  assertEquals(again.secrets.list()[0]!.hosts, []);
  await again.secrets.set({ name: "ALPHA", value: VALUE });
  assertEquals(again.secrets.list().map(({ name }) => name), ["ALPHA", "TOKEN"]);
  assertEquals([await again.secrets.remove("TOKEN"), await again.secrets.remove("TOKEN")], [
    true,
    false,
  ]);
  await again.close();

  assertEquals(temp.records.map(({ kind, data: { change: _, at: __, ...data } }) => [kind, data]), [
    ["secret.set", { name: "TOKEN", ...SCOPE, replaced: false }],
    ["secret.set", { name: "TOKEN", ...SCOPE, replaced: true }],
    ["secret.set", { name: "TOKEN", hosts: [], commands: [], replaced: true }],
    ["secret.set", { name: "ALPHA", hosts: [], commands: [], replaced: false }],
    ["secret.removed", { name: "TOKEN", hosts: [], commands: [] }],
  ]);
  assertEquals(/hunter|another/.test(JSON.stringify(temp.records) + everyText(temp)), false);
});

Deno.test("reveal() gives back every text that set() takes, and its encryption is new each time", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  await fc.assert(
    fc.asyncProperty(
      anyString({ minLength: 8, maxLength: 200 }).filter((text) =>
        text.isWellFormed() && !text.includes("\0") && [...text.trim()].length >= 8
      ),
      async (value) => {
        await state.secrets.set({ name: "ANY", value });
        assertEquals(state.secrets.reveal("ANY")?.value, value);
        const { path } = files(temp);
        const before = await Deno.readTextFile(path);
        await state.secrets.set({ name: "ANY", value });
        const sealed = (text: string) => /"sealed":"([^"]+)"/.exec(text)?.[1];
        assertNotEquals(sealed(await Deno.readTextFile(path)), sealed(before));
      },
    ),
    { numRuns: rounds(20) },
  );
  const longest = "ü".repeat(32 * 1024);
  await state.secrets.set({ name: "LONG", value: longest });
  assertEquals(state.secrets.reveal("LONG")?.value, longest);
  await state.close();
});

Deno.test("set() refuses what cannot be, naming the field and never the value", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  const base = { name: "NAME", value: VALUE, hosts: [] as string[], commands: [] as string[] };
  const cases: [Partial<typeof base>, string, RegExp][] = [
    [{ name: "" }, "name", /expected A-Z/],
    [{ name: "lower" }, "name", /expected A-Z/],
    [{ name: "hunter2-hunter2" }, "name", /expected A-Z/],
    [{ name: "NAME=hunter2" }, "name", /expected A-Z/],
    [{ name: "1A" }, "name", /expected A-Z/],
    [{ name: "A".repeat(65) }, "name", /at most 64/],
    [{ name: "NÄME" }, "name", /expected A-Z/],
    [{ name: "A\n" }, "name", /expected A-Z/],
    [{ name: "PATH" }, "name", /PATH, a variable/],
    [{ name: "LD_PRELOAD" }, "name", /LD_PRELOAD, a variable/],
    [{ name: "HTTPS_PROXY" }, "name", /HTTPS_PROXY, a variable/],
    [{ value: "" }, "value", /is empty.* 8 characters/],
    [{ value: " \n\t" }, "value", /is empty/],
    [{ value: "hunter2" }, "value", /too short.* 8 characters/],
    [{ value: "    hunter2    " }, "value", /too short/],
    [{ value: "😀😀😀😀" }, "value", /too short/],
    [{ value: "hunter2\0hunter2" }, "value", /no text/],
    [{ value: "hunter2hunter2\ud800" }, "value", /no text/],
    [{ value: "hunter2".repeat(10_000) }, "value", /at most 65536 bytes/],
    [{ value: "ü".repeat(32 * 1024) + "x" }, "value", /at most 65536 bytes/],
    [{ hosts: ["https://example.com/"] }, "hosts", /"https:\/\/example.com\/"; expected <host>/],
    [{ hosts: ["example.com", ""] }, "hosts", /""; expected/],
    [{ hosts: ["*"] }, "hosts", /"\*"; expected/],
    [{ hosts: Array(101).fill("a.example") }, "hosts", /are 101; expected at most 100/],
    [{ commands: [" "] }, "commands", /expected a whole command/],
    [{ commands: ['["git",'] }, "commands", /expected a whole command/],
    [{ commands: ["[]"] }, "commands", /expected a whole command/],
    [
      { value: "hunter2-hunter2\n", commands: ["login hunter2-hunter2"] },
      "commands",
      /hold the value itself/,
    ],
  ];
  for (const [change, param, message] of cases) {
    const error = await assertRejects(
      () => state.secrets.set({ ...base, ...change }),
      ServiceError,
    );
    assertEquals([error.code, error.details.param], ["invalid_request", param]);
    assertMatch(error.message, message);
    assertEquals(error.message.includes("hunter2"), false, error.message);
  }
  assertEquals(state.secrets.list(), []);
  assertEquals([...Deno.readDirSync(temp.keysDir)], [], "not even a key was made");
  await state.close();
});

Deno.test(
  needs("set() makes no more secrets than the file holds, and then changes nothing", FULL_RUN),
  async () => {
    await using temp = await tempState();
    const state = await temp.open();
    const value = "x".repeat(64 * 1024);
    let count = 0;
    const error = await assertRejects(async () => {
      for (; count < 1_001; count++) await state.secrets.set({ name: `S${count}`, value });
    }, ServiceError);
    assertEquals(error.code, "too_large");
    assert(count > 40 && count < 50, String(count));
    assertEquals(state.secrets.list().length, count);
    assertEquals(state.secrets.reveal(`S${count - 1}`)?.value, value);
    await state.close();
  },
);

Deno.test("secrets that another process changes are seen at the next call, and told of", async () => {
  await using temp = await tempState();
  const state = await temp.open({ watchMs: 5 });
  // The clock of the state keeps no process alive.
  const alive = setInterval(() => {}, 1_000);
  const other = await temp.open({ audit: undefined });
  let told = Promise.withResolvers<void>();
  let times = 0;
  const end = state.secrets.onChange(() => {
    times++;
    told.resolve();
  });
  await other.secrets.set({ name: "A", value: VALUE });
  assertEquals(state.secrets.reveal("A")?.value, VALUE);
  await told.promise;
  told = Promise.withResolvers();
  // By the clock of the state alone: nobody asks here.
  await other.secrets.remove("A");
  await told.promise;
  assertEquals(state.secrets.list(), []);
  told = Promise.withResolvers();
  await state.secrets.set({ name: "B", value: VALUE });
  await told.promise;
  await state.record();
  assertEquals([times, other.secrets.list().length], [3, 1], "what the audit took is no change");
  end();
  await state.secrets.remove("B");
  await state.close();
  await other.close();
  assertEquals(times, 3);
  clearInterval(alive);
});

Deno.test("the key comes from SERVICE_SECRETS_KEY before the file, in each spelling of base64", async () => {
  await using temp = await tempState();
  const bytes = new Uint8Array(32).map((_, at) => 251 + at);
  const key = bytes.toBase64();
  const state = await temp.open({ secretsKey: key });
  await state.secrets.set({ name: "A", value: VALUE });
  await state.close();
  assertEquals([...Deno.readDirSync(temp.keysDir)].map(({ name }) => name).toSorted(), [
    "operator-secrets.json",
    "operator.key",
  ]);
  const spellings = [
    key,
    ` ${key}\n`,
    key.replace("=", ""),
    bytes.toBase64({ alphabet: "base64url" }),
  ];
  for (const secretsKey of spellings) {
    const again = readSecrets({ ...temp, secretsKey });
    assertEquals([again.damaged(), again.reveal("A")?.value], [undefined, VALUE]);
  }
  for (const secretsKey of ["short", `${key}A`, "!".repeat(44), key.slice(1)]) {
    const damaged = readSecrets({ ...temp, secretsKey }).damaged();
    assertStringIncludes(damaged!, "SERVICE_SECRETS_KEY is not base64 of 32 bytes");
    assertEquals(damaged!.includes(secretsKey), false);
  }
});

Deno.test("a key that is gone, another one, damaged or open to others reveals and changes nothing", async () => {
  const cases: [string, (temp: TempState) => Promise<unknown>, RegExp, string?][] = [
    ["gone", (temp) => Deno.remove(files(temp).key), /The key of the secrets is gone/],
    [
      "another",
      (temp) => Deno.writeTextFile(files(temp).key, `${btoa("k".repeat(32))}\n`),
      /encrypted with another key than that of ".*secrets.key"/,
    ],
    [
      "another in the environment",
      () => Promise.resolve(),
      /encrypted with another key than that of SERVICE_SECRETS_KEY/,
      btoa("e".repeat(32)),
    ],
    ["no key", (temp) => Deno.writeTextFile(files(temp).key, "nonsense"), /is not base64/],
    ["empty", (temp) => Deno.writeTextFile(files(temp).key, ""), /is not base64/],
    ["huge", (temp) => Deno.writeTextFile(files(temp).key, "A".repeat(1_000)), /is damaged/],
    ["open", (temp) => Deno.chmod(files(temp).key, 0o644), /has the mode 644/],
    ["a link", async (temp) => {
      await Deno.rename(files(temp).key, `${temp.root}/key`);
      await Deno.symlink(`${temp.root}/key`, files(temp).key);
    }, /it is no file/],
  ];
  for (const [name, damage, message, secretsKey] of cases) {
    await using temp = await tempState();
    const first = await temp.open();
    await first.secrets.set({ name: "A", value: VALUE });
    await damage(temp);
    const kept = Deno.readTextFileSync(files(temp).path);
    const second = await temp.open({ secretsKey });
    for (const { secrets } of secretsKey === undefined ? [first, second] : [second]) {
      assertMatch(secrets.damaged() ?? "", message, name);
      assertEquals(secrets.list().map(({ name }) => name), ["A"]);
      assertMatch(assertThrows(() => secrets.reveal("A"), ServiceError).message, message);
      const error = await assertRejects(
        () => secrets.set({ name: "B", value: VALUE }),
        ServiceError,
      );
      assertEquals(error.code, "refused");
      assertMatch(error.message, /service secrets reset/);
    }
    assertEquals(Deno.readTextFileSync(files(temp).path), kept);
    assertEquals(
      first.secrets.revealAll().map(({ value }) => value).filter(() => !secretsKey),
      secretsKey ? [] : [VALUE],
      "what was read is hidden on",
    );
    assertEquals(second.secrets.revealAll(), []);
    await Promise.all([first.close(), second.close()]);
  }
});

Deno.test("reset() sets what cannot be read aside, and a key that is none, and keeps one that is whole", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  await state.secrets.set({ name: "A", value: VALUE });
  assertEquals(await state.secrets.reset(), false);
  const { key } = files(temp);
  const lost = Deno.readTextFileSync(key);
  await Deno.remove(key);
  assertEquals(await state.secrets.reset(), true);
  assertEquals([state.secrets.damaged(), state.secrets.list()], [undefined, []]);
  const record = temp.records.at(-1)!;
  assertEquals([record.kind, record.data.file], ["state.reset", "secrets"]);
  await state.secrets.set({ name: "B", value: VALUE });
  assertNotEquals(Deno.readTextFileSync(key), lost);

  // The file was damaged, and the key was not.
  const own = Deno.readTextFileSync(key);
  Deno.writeTextFileSync(files(temp).path, "x");
  assertEquals(await state.secrets.reset(), true);
  assertEquals(Deno.readTextFileSync(key), own);

  // The key was, and nothing is left of it where it would be taken for one.
  await state.secrets.set({ name: "C", value: VALUE });
  await Deno.writeTextFile(key, "nonsense");
  assertEquals(await state.secrets.reset(), true);
  const names = [...Deno.readDirSync(temp.keysDir)].map(({ name }) => name);
  assert(names.some((name) => name.startsWith("secrets.key.damaged-")), names.join());
  await state.secrets.set({ name: "D", value: VALUE });
  assertEquals(state.secrets.reveal("D")?.value, VALUE);
  await state.close();
});

Deno.test("a file that is edited, cut, older, gone or of another home reveals nothing", async () => {
  await using temp = await tempState();
  const { path } = files(temp);
  const writer = await temp.open();
  await writer.secrets.set({ name: "A", value: VALUE, ...SCOPE });
  const older = await Deno.readTextFile(path);
  await writer.secrets.set({ name: "A", value: "rotated-value" });
  await writer.secrets.set({ name: "B", value: VALUE });
  const text = await Deno.readTextFile(path);
  await writer.close();
  await using foreign = await tempState();
  const elsewhere = await foreign.open();
  await elsewhere.secrets.set({ name: "A", value: VALUE });
  for (let count = 0; count < 6; count++) await elsewhere.secrets.remove("A" + count);
  await elsewhere.close();

  const flipped = Array.from({ length: 60 }, (_, each) => {
    const at = Math.floor(each * text.length / 60);
    return text.slice(0, at) + (text[at] === "a" ? "b" : "a") + text.slice(at + 1);
  });
  const edits: (string | undefined)[] = [
    ...flipped,
    older,
    undefined,
    "",
    text.slice(0, -1),
    text.replace("api.example.com", "evil.example.com"),
    await Deno.readTextFile(files(foreign).path),
  ];
  for (const edit of edits) {
    if (edit === undefined) await Deno.remove(path);
    else await Deno.writeTextFile(path, edit);
    const state = await temp.open({ audit: undefined });
    assertStringIncludes(state.secrets.damaged() ?? "", path, edit);
    assertThrows(() => state.secrets.reveal("A"), ServiceError);
    assertThrows(() => state.secrets.list(), ServiceError);
    assertEquals(state.secrets.revealAll(), []);
    await assertRejects(() => state.secrets.set({ name: "C", value: VALUE }), ServiceError);
    await assertRejects(() => state.secrets.remove("A"), ServiceError);
    await state.close();
  }
  await Deno.writeTextFile(path, text);
  assertEquals(readSecrets(temp).reveal("A")?.value, "rotated-value");
});

Deno.test("a value does not open under another name, scope or time, though the file is sealed again", async () => {
  type Stored = StoredSecrets["secrets"][number];
  const edits: [string, (all: Stored[]) => void][] = [
    ["names swapped", (all) => [all[0]!.name, all[1]!.name] = [all[1]!.name, all[0]!.name]],
    ["values swapped", ([a, b]) => {
      [a!.iv, b!.iv] = [b!.iv, a!.iv];
      [a!.sealed, b!.sealed] = [b!.sealed, a!.sealed];
    }],
    ["value copied", ([a, b]) => Object.assign(b!, { iv: a!.iv, sealed: a!.sealed })],
    ["host added", ([a]) => a!.hosts = [...a!.hosts, "evil.example"]],
    ["host widened", ([a]) => a!.hosts = ["*.com"]],
    ["hosts taken", ([a]) => a!.hosts = []],
    ["host made a command", ([a]) => [a!.hosts, a!.commands] = [a!.commands, a!.hosts]],
    ["texts moved over", ([a]) => [a!.hosts, a!.commands] = [[], [...a!.hosts, ...a!.commands]]],
    ["command changed", ([a]) => a!.commands = ['["sh"]']],
    ["time changed", ([a]) => a!.updatedAt++],
    ["cut", ([a]) => a!.sealed = a!.sealed.slice(0, 20)],
    ["emptied", ([a]) => a!.sealed = ""],
    ["no base64", ([a]) => a!.iv = "%"],
    ["short tag", ([a]) => a!.sealed = "AAAA"],
  ];
  for (const [name, edit] of edits) {
    await using temp = await tempState();
    const state = await temp.open();
    await state.secrets.set({ name: "A", value: VALUE, ...SCOPE });
    await state.secrets.set({ name: "B", value: "another-value" });
    await state.close();
    await reseal(temp, ({ value }) => edit(value.secrets as Stored[]));
    const secrets = readSecrets(temp);
    assertMatch(secrets.damaged() ?? "", /The secret [AB] does not open/, name);
    for (const each of ["A", "B"]) assertThrows(() => secrets.reveal(each), ServiceError);
  }
});

Deno.test("two processes that set the first secrets at once share one key, and both are kept", async () => {
  for (let round = 0; round < 10; round++) {
    await using temp = await tempState();
    const states = await Promise.all([1, 2, 3].map(() => temp.open({ audit: undefined })));
    await Promise.all(
      states.map(({ secrets }, at) =>
        Promise.all(
          [0, 1, 2].map((each) => secrets.set({ name: `S_${at}_${each}`, value: VALUE + at })),
        )
      ),
    );
    for (const { secrets } of states) {
      assertEquals(secrets.damaged(), undefined);
      assertEquals(secrets.revealAll().map(({ name, value }: Secret) => [name, value.at(-1)]), [
        ...["0", "1", "2"].flatMap((at) => ["0", "1", "2"].map((each) => [`S_${at}_${each}`, at])),
      ]);
    }
    for (const state of states) await state.close();
  }
});

Deno.test("set() that the disk does not take leaves the secrets as they were", async () => {
  await using temp = await tempState();
  let isFull = false;
  const write: typeof writeFileAtomic = (...args) =>
    isFull ? Promise.reject(new Error("no space left")) : writeFileAtomic(...args);
  const state = await temp.open({ write, audit: undefined });
  isFull = true;
  await assertRejects(() => state.secrets.set({ name: "A", value: VALUE }));
  assertEquals([state.secrets.damaged(), state.secrets.list()], [undefined, []]);
  isFull = false;
  await state.secrets.set({ name: "A", value: VALUE });
  isFull = true;
  const error = await assertRejects(() => state.secrets.set({ name: "A", value: "other-value" }));
  assertEquals((error as Error).message.includes("other-value"), false);
  assertEquals(state.secrets.reveal("A")?.value, VALUE);
  assertEquals(readSecrets(temp).reveal("A")?.value, VALUE);
  await state.close();
});
