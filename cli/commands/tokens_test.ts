import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { acquireHome } from "../../lib/authority/home_lock.ts";
import { openOperatorState } from "../../lib/state/operator_state.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT } from "../command.ts";
import { operatorHome } from "../testing/operator_home.ts";
import command, { runTokens } from "./tokens.ts";

const setUp = () => operatorHome("tokens", command, runTokens);
const TOKEN = /^sat_[A-Za-z0-9_-]{43}\n$/;

Deno.test("tokens issue prints the token alone, for a pipe and a terminal, and records it", async () => {
  for (const terminal of [false, true]) {
    await using temp = await setUp();
    const line = ["issue", "--scopes", "approve,operate", "--name", "ann", "--expires", "30d"];
    const { exit, stdout, stderr } = await temp.run(line, { terminal });
    assertEquals(exit, EXIT.done);
    assertMatch(stdout, TOKEN);
    assertMatch(
      stderr,
      /^tok_\w{16} may operate and approve until 2030-01-31T00:00:00Z\. Copy the token now: it is not shown again\n$/,
    );
    const [record, ...more] = await temp.records();
    assertEquals([record?.kind, record?.data.name, record?.data.scopes, more], [
      "token.issued",
      "ann",
      ["operate", "approve"],
      [],
    ]);
    const { paths } = temp.home;
    const state = await openOperatorState({ dir: paths.operatorDir, keysDir: paths.keysDir });
    assertEquals(state.tokens.verify(stdout.trim())?.name, "ann");
    await state.close();
  }
});

Deno.test("tokens issue knows every scope, and says in words what the token may do", async () => {
  await using temp = await setUp();
  for (
    const [scopes, words] of [
      ["read", "read"],
      ["chat,read", "read and chat"],
      ["secrets, approve,chat", "chat, approve and keep secrets"],
      ["operate,read,chat,approve,secrets", "operate, read, chat, approve and keep secrets"],
    ] as const
  ) {
    const { exit, stderr } = await temp.run(["issue", "--scopes", scopes]);
    assertEquals(exit, EXIT.done);
    assertStringIncludes(stderr, ` may ${words} until it is revoked`);
  }
});

Deno.test("tokens issue --json is one object that has the token and what is known of it", async () => {
  await using temp = await setUp();
  const { stdout, stderr } = await temp.run(["issue", "--scopes=approve", "--json"]);
  const { token, ...info } = JSON.parse(stdout);
  assertMatch(`${token}\n`, TOKEN);
  assertEquals([stderr, info.name, info.scopes, info.created_at], [
    "",
    "",
    ["approve"],
    temp.clock.now / 1_000,
  ]);
  assertEquals("expires_at" in info, false);
  const listed = JSON.parse((await temp.run(["list", "--json"])).stdout);
  assertEquals(listed, info);
});

Deno.test("tokens lists those in force as a table, and none when there are none", async () => {
  await using temp = await setUp();
  const none = await temp.run([]);
  assertEquals([none.exit, none.stdout], [EXIT.done, ""]);
  assertStringIncludes(none.stderr, "service tokens issue --scopes approve");
  assertEquals(await temp.run(["list", "--json"]), { exit: EXIT.done, stdout: "", stderr: "" });
  await temp.run(["issue", "--scopes", "approve", "--name", "ann", "--expires", "12h"]);
  await temp.run(["issue", "--scopes", "operate"]);
  const { stdout } = await temp.run([]);
  const [header, ann, other] = stdout.split("\n").map((line) => line.replace(/tok_\w{16}/, "ID"));
  assertEquals([header, ann, other], [
    "TOKEN                 SCOPES   CREATED               EXPIRES               LAST USED  NAME",
    "ID  approve  2030-01-01T00:00:00Z  2030-01-01T12:00:00Z  -          ann",
    "ID  operate  2030-01-01T00:00:00Z  -                     -",
  ]);
  assert(!stdout.includes("sat_"));
  temp.clock.now += 13 * 3_600_000;
  assert(!(await temp.run([])).stdout.includes("ann"));
});

Deno.test("tokens revoke takes one back, once", async () => {
  await using temp = await setUp();
  const { id } = JSON.parse((await temp.run(["issue", "--scopes", "approve", "--json"])).stdout);
  const { stderr } = await temp.run(["revoke", id]);
  assertEquals(stderr, `Revoked ${id}\n`);
  const error = await assertRejects(() => temp.run(["revoke", id]), ServiceError, id);
  assertEquals(error.code, "not_found");
  assertEquals((await temp.records()).map(({ kind, data }) => [kind, data.id]), [
    ["token.issued", id],
    ["token.revoked", id],
  ]);
});

Deno.test("G24 tokens repeats no token in an error", async () => {
  await using temp = await setUp();
  const token = (await temp.run(["issue", "--scopes", "approve"])).stdout.trim();
  const error = await assertRejects(() => temp.run(["revoke", token]), ServiceError);
  assertEquals(error.code, "usage");
  assert(!error.message.includes(token.slice(4)));
});

Deno.test("tokens issue refuses what it cannot make sense of, and writes nothing", async () => {
  await using temp = await setUp();
  const cases: [string[], string][] = [
    [[], "scopes"],
    [["--scopes", ""], "scopes"],
    [["--scopes", "approve,root"], "scopes"],
    [["--scopes", "Approve"], "scopes"],
    [["--scopes", "approve", "--expires", "30"], "expires"],
    [["--scopes", "approve", "--expires", "0d"], "expires"],
    [["--scopes", "approve", "--expires", "999999w"], "expires"],
    [["--scopes", "approve", "--expires", "-1d"], "expires"],
    [["--scopes", "approve", "--name", "a\u001b[2Jb"], "name"],
    [["--scopes", "approve", "--yes"], "yes"],
  ];
  for (const [line, param] of cases) {
    const error = await assertRejects(() => temp.run(["issue", ...line]), ServiceError);
    assertEquals(error.details.param, param);
    assertEquals(["usage", "invalid_request"].includes(error.code), true);
  }
  const error = await assertRejects(
    () => temp.run(["--name", "x"]),
    ServiceError,
    "takes no --name",
  );
  assertEquals(error.code, "usage");
  assertEquals([(await temp.run([])).stdout, await temp.records()], ["", []]);
});

Deno.test("tokens works while a service has the home, whose audit is then told by the service", async () => {
  await using temp = await setUp();
  const { paths } = temp.home;
  await Deno.mkdir(paths.home, { recursive: true });
  const lock = await acquireHome(paths);
  assert("release" in lock);
  const records: string[] = [];
  const service = await openOperatorState({
    dir: paths.operatorDir,
    keysDir: paths.keysDir,
    audit: { append: (kind) => Promise.resolve(void records.push(kind)) },
    now: () => temp.clock.now,
  });
  const { stdout, stderr } = await temp.run(["issue", "--scopes", "approve", "--name", "ann"]);
  assert(!stderr.includes("audit"), stderr);
  assertEquals(service.tokens.verify(stdout.trim())?.name, "ann");
  await service.record();
  assertEquals(records, ["token.issued"]);
  const { id } = JSON.parse((await temp.run(["list", "--json"])).stdout);
  await temp.run(["revoke", id]);
  assertEquals(service.tokens.verify(stdout.trim()), undefined);
  await service.close();
  assertEquals(records, ["token.issued", "token.revoked"]);
  assertEquals(await temp.records(), []);
  lock.release();
});

Deno.test("tokens issue says so when the audit cannot be used, and the next one records both", async () => {
  await using temp = await setUp();
  await temp.home.write("{ broken");
  const first = await temp.run(["issue", "--scopes", "approve"]);
  assertEquals(first.exit, EXIT.done);
  assertMatch(first.stdout, TOKEN);
  assertStringIncludes(first.stderr, "Not in the audit log yet");
  assertEquals(await temp.records(), []);
  await temp.home.write("{}");
  await temp.run(["issue", "--scopes", "approve"]);
  assertEquals((await temp.records()).length, 2);
});

Deno.test("G11 tokens refuses damaged state until reset, which asks first", async () => {
  await using temp = await setUp();
  const token = (await temp.run(["issue", "--scopes", "approve"])).stdout.trim();
  const path = `${temp.home.paths.operatorDir}/tokens.json`;
  await Deno.writeTextFile(path, (await Deno.readTextFile(path)).replace("approve", "operate"));
  for (
    const line of [["list"], ["issue", "--scopes", "approve"], ["revoke", `tok_${"a".repeat(16)}`]]
  ) {
    const error = await assertRejects(() => temp.run(line), ServiceError, "service tokens reset");
    assertEquals(error.code, "refused");
    assert(!error.message.includes(token.slice(4)));
  }
  const nobody = await assertRejects(() => temp.run(["reset"]), ServiceError, "--yes");
  assertEquals(nobody.code, "usage");
  const no = await temp.run(["reset"], { terminal: true, answer: "n" });
  assertEquals([no.exit, no.stderr.includes("its seal does not fit")], [EXIT.failed, true]);
  await assertRejects(() => temp.run(["list"]), ServiceError, "is damaged");

  assertEquals((await temp.run(["reset"], { terminal: true, answer: "yes" })).exit, EXIT.done);
  assertEquals((await temp.run(["list"])).stdout, "");
  assertEquals((await temp.records()).map(({ kind }) => kind), ["token.issued", "state.reset"]);
  const aside = [...Deno.readDirSync(temp.home.paths.operatorDir)].filter(({ name }) =>
    name.startsWith("tokens.json.damaged-")
  );
  assertEquals(aside.length, 1);
  const error = await assertRejects(
    () => temp.run(["reset", "--yes"]),
    ServiceError,
    "not damaged",
  );
  assertEquals(error.code, "invalid_request");
});
