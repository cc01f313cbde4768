import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { ServiceError } from "../../base/errors.ts";
import { tempState } from "../../state/testing/temp_state.ts";
import type { OperatorState } from "../../state/operator_state.ts";
import { Commissions, MAX_ACTIONS, MAX_COMMISSION_MS, MAX_OPEN } from "./commissions.ts";
import type { PreviewedAction } from "../../contract/finding.ts";
import { lockedFlags } from "../../packages/locked_packages.ts";

const DIGEST = "d".repeat(64);
const BY = "token:tok_1";
const FIND_AND_WAIT = new URL("../../state/testing/find_and_wait.ts", import.meta.url).pathname;

function action(target: string): Omit<PreviewedAction, "count"> {
  const more = { rule: "unattended", reason: "", effect: "grant" as const };
  return { tool: "read_file", capability: "fs.read", target, ...more };
}

function commissionsOf(state: OperatorState, now: () => number = Date.now) {
  const audit = { append: () => Promise.resolve({} as never) };
  return new Commissions({ audit, findings: state.findings, grants: state.grants, now });
}

const codeOf = async (run: () => Promise<unknown>) => (await assertRejects(run, ServiceError)).code;

Deno.test("G20 a finding outlives kill -9, and grants then all that it names, in one write", async () => {
  await using temp = await tempState();
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--cached-only",
      ...lockedFlags(),
      "-q",
      FIND_AND_WAIT,
      temp.dir,
      temp.keysDir,
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const digest = (await reader.read()).value!.trim();
  child.kill("SIGKILL");
  await child.status;
  await reader.cancel();

  const state = await temp.open();
  const commissions = commissionsOf(state);
  assertEquals(state.grants.list(), []);
  const request = { automationId: "aut_a", digest, automationDigest: DIGEST, by: BY };
  const { grants } = await commissions.grant(request);
  assertEquals(grants.map(({ target }) => target), ["/w/a", "/w/b"]);
  // Twice is once.
  assertEquals((await commissions.grant(request)).grants, grants);
  await state.close();
  const again = await temp.open();
  assertEquals(again.grants.list(), grants);
  await again.close();
  const kinds = temp.records.map(({ kind }) => kind);
  assertEquals(kinds, ["commission.finished", "grant.added", "grant.added"]);
});

Deno.test("begin() is one at a time for an automation, also at the same instant, and bounded for all", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  let now = 0;
  const commissions = commissionsOf(state, () => now);
  const begin = (automationId: string) =>
    commissions.begin({ automationId, digest: DIGEST, by: BY });
  const both = await Promise.allSettled([begin("aut_0"), begin("aut_0")]);
  assertEquals(both.map(({ status }) => status), ["fulfilled", "rejected"]);
  for (let index = 1; index < MAX_OPEN; index++) await begin(`aut_${index}`);
  assertEquals(await codeOf(() => begin("aut_more")), "overloaded");
  now = MAX_COMMISSION_MS;
  // Those that nobody finished are over.
  const { id } = await begin("aut_0");
  const turn = { rehearsal: id, automation: { id: "aut_0", digest: DIGEST } };
  assertEquals(commissions.objection(turn), undefined);
  now += MAX_COMMISSION_MS;
  assertEquals(commissions.objection(turn), "this dry run is over, or was never begun");
  assertEquals(await codeOf(() => commissions.finish({ id, outcome: "done" })), "not_found");
  for (const bad of ["", "a b", "a/b", "x".repeat(200)]) {
    assertEquals(await codeOf(() => begin(bad)), "invalid_request");
  }
  await state.close();
});

Deno.test("note() keeps a bounded number of actions, each once, and counts what it leaves out", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  const commissions = commissionsOf(state);
  const { id } = await commissions.begin({ automationId: "aut_a", digest: DIGEST, by: BY });
  for (let index = 0; index < MAX_ACTIONS + 7; index++) {
    commissions.note(id, action(`/w/${index}`));
    commissions.note(id, action("/w/0"));
  }
  commissions.note("com_other", action("/w/other"));
  const finding = await commissions.finish({ id, outcome: "done" });
  assertEquals([finding!.actions.length, finding!.left], [MAX_ACTIONS, 7]);
  assertEquals(finding!.actions[0]!.count, MAX_ACTIONS + 8);
  assertEquals(await codeOf(() => commissions.finish({ id, outcome: "done" })), "not_found");

  const large = await commissions.begin({ automationId: "aut_b", digest: DIGEST, by: BY });
  for (let index = 0; index < 100; index++) {
    commissions.note(large.id, action(`/${"x".repeat(7_000)}${index}`));
  }
  const bounded = await commissions.finish({ id: large.id, outcome: "done" });
  assert(JSON.stringify(bounded).length < 1_000_000);
  assertEquals(bounded!.actions.length + bounded!.left, 100);
  await state.close();
});

Deno.test("finish() of one that was cancelled keeps the last finding; one that failed grants nothing", async () => {
  await using temp = await tempState();
  const state = await temp.open();
  const commissions = commissionsOf(state);
  const rehearse = async (outcome: "done" | "failed" | "cancelled") => {
    const { id } = await commissions.begin({ automationId: "aut_a", digest: DIGEST, by: BY });
    commissions.note(id, action(`/w/${outcome}`));
    return await commissions.finish({ id, outcome });
  };
  assertEquals(await rehearse("cancelled"), undefined);
  assertThrows(() => commissions.finding("aut_a"), ServiceError, "has had no dry run");
  const done = await rehearse("done");
  assertEquals(await rehearse("cancelled"), undefined);
  assertEquals(commissions.finding("aut_a"), done);
  const failed = await rehearse("failed");
  const request = { automationId: "aut_a", automationDigest: DIGEST, by: BY };
  // The one that was seen is not the newest any more.
  for (const { digest } of [done!, failed!]) {
    assertEquals(await codeOf(() => commissions.grant({ ...request, digest })), "conflict");
  }
  assertEquals(state.grants.list(), []);
  await state.close();
});

Deno.test("G11 a damaged file of findings grants nothing, and makes room for the next rehearsal", async () => {
  await using temp = await tempState();
  const before = await temp.open();
  const first = commissionsOf(before);
  const begun = await first.begin({ automationId: "aut_a", digest: DIGEST, by: BY });
  first.note(begun.id, action("/w/a"));
  const finding = (await first.finish({ id: begun.id, outcome: "done" }))!;
  await before.close();
  const path = `${temp.dir}/findings.json`;
  const text = await Deno.readTextFile(path);
  await Deno.writeTextFile(path, text.replace("/w/a", "/w/b"));

  const state = await temp.open();
  const commissions = commissionsOf(state);
  const request = {
    automationId: "aut_a",
    automationDigest: DIGEST,
    by: BY,
    digest: finding.digest,
  };
  assertEquals(await codeOf(() => commissions.grant(request)), "not_found");
  const { id } = await commissions.begin({ automationId: "aut_a", digest: DIGEST, by: BY });
  assertEquals((await commissions.finish({ id, outcome: "done" }))?.grants, []);
  assertEquals(state.grants.list(), []);
  await state.close();
});
