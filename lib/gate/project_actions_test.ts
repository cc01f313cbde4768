import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { type GateFixture, gateFixture } from "../authority/testing/gate_fixture.ts";
import type { GateFixtureOptions } from "../authority/testing/gate_fixture.ts";

/** A gate with an allowed project beside its home, and how to act there. */
async function projectGate(options: GateFixtureOptions = {}) {
  const gate = await gateFixture(options);
  const folder = `${gate.root}/site`;
  await Deno.mkdir(`${folder}/src`, { recursive: true });
  await gate.projects.decide(folder, true, gate.workspace);
  const act = (tool: string, args: unknown, where = folder) =>
    gate.act(tool, args, { context: { folder: where } });
  return { gate, folder, act, [Symbol.asyncDispose]: () => gate[Symbol.asyncDispose]() };
}

const actionsOf = async (gate: GateFixture) =>
  (await gate.records()).filter(({ kind }) => kind.startsWith("action."));

Deno.test("act() works in the project of the turn: paths, rules and the record", async () => {
  await using project = await projectGate();
  const { gate, folder, act } = project;
  assertEquals((await act("write_file", { path: "src/a.txt", content: "A\n" })).status, "ok");
  assertEquals(await Deno.readTextFile(`${folder}/src/a.txt`), "A\n");
  assertEquals(await act("read_file", { path: `${folder}/src/a.txt` }), {
    status: "ok",
    output: "A",
  });
  const [start] = await actionsOf(gate);
  assertEquals([start!.data.folder, start!.data.decision], [folder, {
    effect: "allow",
    rule: "workspace.write",
  }]);

  // What lies outside is as far away as it is from the workspace, and so is the workspace itself.
  await Deno.writeTextFile(`${gate.root}/outside.txt`, "x");
  await Deno.writeTextFile(`${gate.workspace}/mine.txt`, "x");
  await Deno.symlink(`${gate.root}/outside.txt`, `${folder}/link.txt`);
  for (
    const path of [
      "../outside.txt",
      "link.txt",
      `${gate.workspace}/mine.txt`,
      `${gate.home}/projects.json`,
    ]
  ) {
    assertEquals((await act("read_file", { path })).status, "refused", path);
  }
  // Protected names are protected there too.
  for (const path of ["AGENTS.md", ".git/hooks/pre-commit", ".envrc"]) {
    assertEquals((await act("write_file", { path, content: "x" })).status, "refused", path);
  }
  // A turn without a project is in the workspace as before.
  assertEquals((await gate.act("read_file", { path: "mine.txt" })).status, "ok");
  assertEquals((await gate.act("read_file", { path: "src/a.txt" })).status, "failed");
});

Deno.test("act() runs commands in the project, and shows them nothing of the workspace", async () => {
  await using project = await projectGate();
  const { gate, folder, act } = project;
  if ((await gate.actions.checks({ test: true })).exec?.ok === false) return;
  await Deno.writeTextFile(`${gate.workspace}/mine.txt`, "x");
  const args = { command: `pwd; cat ${gate.workspace}/mine.txt; echo made > made.txt`, cwd: "src" };
  const { output } = await act("exec", args);
  assertStringIncludes(output, `${folder}/src\n`);
  assert(/No such file/.test(output), output);
  assertEquals(await Deno.readTextFile(`${folder}/src/made.txt`), "made\n");
  const [start] = await actionsOf(gate);
  assertEquals(start!.data.folder, folder);
  assertEquals((await act("exec", { command: "true", cwd: ".." })).status, "refused");
  assertEquals((await act("exec", { command: "echo x > AGENTS.md" })).status, "ok");
  assertEquals(
    await Deno.stat(`${folder}/AGENTS.md`).then(({ size }) => size > 0, () => false),
    false,
  );
});

Deno.test("act() means the project by the workspace/ of a configured rule", async () => {
  await using project = await projectGate({
    rules: [{
      name: "private",
      effect: "deny",
      capabilities: ["fs.read"],
      targets: ["workspace/private/**"],
    }],
  });
  const { folder, act } = project;
  await Deno.mkdir(`${folder}/private`);
  await Deno.writeTextFile(`${folder}/private/a.txt`, "x");
  assertEquals((await act("read_file", { path: "private/a.txt" })).status, "refused");
});

Deno.test("act() gives a secret for ./deploy to no script of a project", async () => {
  await using project = await projectGate({
    rules: [{ name: "keys", effect: "allow", capabilities: ["secret.use"], targets: ["KEY"] }],
  });
  const { gate, folder, act } = project;
  if ((await gate.actions.checks({ test: true })).exec?.ok === false) return;
  for (const place of [folder, gate.workspace]) {
    await Deno.writeTextFile(`${place}/deploy`, '#!/bin/sh\necho "${#KEY}"\n', { mode: 0o755 });
    await Deno.chmod(`${place}/deploy`, 0o755);
  }
  const commands = ['["./deploy"]'];
  await gate.state.secrets.set({ name: "KEY", value: "a-long-value", hosts: [], commands });
  const args = { command: ["./deploy"], secrets: ["KEY"] };
  assertStringIncludes((await gate.act("exec", args)).output, "12\n");
  const refused = await act("exec", args);
  assertEquals(refused.status, "refused");
  assertStringIncludes(refused.output, "the secret KEY is not for this command");
});

Deno.test("act() refuses a folder that nobody allowed, and one that is another by now", async () => {
  await using project = await projectGate();
  const { gate, folder, act } = project;
  await Deno.writeTextFile(`${folder}/a.txt`, "A");
  for (const where of [gate.root, gate.home, "/", "/etc", `${folder}/src`, `${folder}/`, ".", ""]) {
    const result = await act("read_file", { path: `${folder}/a.txt` }, where);
    assertEquals(result.status, "refused", where);
    assertStringIncludes(result.output, "service projects allow");
  }
  for (const { kind, data } of await actionsOf(gate)) {
    assertEquals([kind, data.decision], ["action.refused", { effect: "deny", rule: "folder" }]);
  }

  await Deno.rename(folder, `${gate.root}/moved`);
  assertStringIncludes((await act("list_files", {})).output, "it is not there");
  await Deno.symlink(gate.home, folder);
  assertStringIncludes((await act("list_files", {})).output, "it leads to");
  await Deno.remove(folder);
  await Deno.rename(`${gate.root}/moved`, folder);
  assertEquals((await act("list_files", {})).status, "ok");
  await gate.projects.forget(folder);
  assertEquals((await act("list_files", {})).status, "refused");
});
