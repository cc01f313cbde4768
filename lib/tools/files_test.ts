import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { actionJob } from "../executor/child_job.ts";
import { createExecutor } from "../executor/executor.ts";
import { resolveTouch, sealAction } from "../gate/resolve_touch.ts";
import { findTool } from "./mod.ts";
import { type GateFixture, gateFixture } from "../authority/testing/gate_fixture.ts";
import { needs } from "../../tests/support/needs.ts";
import { NO_SANDBOX, rounds } from "../../tests/support/rounds.ts";

/** Runs a test with a sandbox, where there is one, and without. */
function testBoth(name: string, test: (gate: GateFixture) => Promise<void>): void {
  for (const sandbox of ["auto", "off"] as const) {
    Deno.test({
      ...needs(`${name} (sandbox ${sandbox})`, sandbox === "off" && NO_SANDBOX),
      async fn() {
        await using gate = await gateFixture({ sandbox });
        await test(gate);
      },
    });
  }
}

async function fill(gate: GateFixture, files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    const path = `${gate.workspace}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }
}

testBoth("list_files shows folders, sizes and links, and makes odd names visible", async (gate) => {
  await fill(gate, {
    "b.txt": "12345",
    "sub/deep/c.txt": "",
    "a\nb\x1b[31m\u202e.txt": "",
    ".env": "SECRET=1",
    "node_modules/x/index.js": "",
  });
  await Deno.symlink("/etc", `${gate.workspace}/etc`);
  await Deno.symlink("gone\n", `${gate.workspace}/dangling`);
  const flat = await gate.act("list_files", {});
  assertEquals(flat, {
    status: "ok",
    output: [
      "node_modules/",
      "sub/",
      "a\\nb\\x1b[31m\\u{202e}.txt  0",
      "b.txt  5",
      "dangling -> gone\\n (link)",
      "etc -> /etc (link)",
      "[1 with credentials left out]",
    ].join("\n"),
  });
  const deep = await gate.act("list_files", { depth: 5 });
  assertMatch(deep.output, /^node_modules\/\nsub\/\nsub\/deep\/\nsub\/deep\/c\.txt {2}0\n/);
  assertEquals(
    (await gate.act("list_files", { path: "sub/deep/c.txt" })).output,
    "sub/deep/c.txt is a file, expected a folder",
  );
  assertEquals(
    (await gate.act("list_files", { path: "nowhere" })).output,
    "nowhere does not exist",
  );
  const cut = await gate.act("list_files", { limit: 2 });
  assertMatch(cut.output, /^node_modules\/\nsub\/\n\[the first 2 entries; list a folder/);
});

testBoth("read_file gives lines, and says how to go on", async (gate) => {
  const text = Array.from({ length: 100 }, (_, index) => `line ${index + 1}\n`).join("");
  await fill(gate, {
    "a.txt": text,
    "crlf.txt": "a\r\nb\r\n",
    "no-end.txt": "a\nb",
    "empty.txt": "",
    "bom.txt": new Uint8Array([0xff, 0xfe, 0x68, 0, 0x69, 0]),
    "binary": new Uint8Array([1, 2, 0, 3]),
    "long.txt": "x".repeat(10_000) + "\nnext\n",
  });
  const read = async (args: Record<string, unknown>) => (await gate.act("read_file", args)).output;
  assertEquals(
    await read({ path: "a.txt", offset: 99 }),
    "line 99\nline 100\n[lines 99 to 100 of 100]",
  );
  assertEquals(
    await read({ path: "a.txt", offset: 3, limit: 2 }),
    "line 3\nline 4\n[lines 3 to 4 of 100; go on with offset 5]",
  );
  assertEquals(
    await read({ path: "a.txt", offset: 101 }),
    "offset is 101, but a.txt has 100 lines",
  );
  assertEquals(await read({ path: "crlf.txt" }), "a\nb");
  assertEquals(await read({ path: "no-end.txt" }), "a\nb");
  assertEquals(await read({ path: "empty.txt" }), "[empty.txt is empty]");
  assertEquals(await read({ path: "bom.txt" }), "hi");
  assertEquals(await read({ path: "binary" }), "binary is a binary file of 4 bytes, expected text");
  assertMatch(
    await read({ path: "long.txt" }),
    /^x{4000} \[… 6000 characters of this line cut\]\nnext$/,
  );
  assertEquals(await read({ path: "." }), ". is a folder, expected a file");
  assertEquals(await read({ path: "none" }), "none does not exist");
});

Deno.test("read_file streams a huge file instead of holding it", async () => {
  await using gate = await gateFixture();
  const path = `${gate.workspace}/huge.log`;
  const file = await Deno.open(path, { write: true, create: true });
  await file.write(new TextEncoder().encode("first\n" + "x".repeat(10_000)));
  // Larger than the child's heap, and without a line end.
  await file.seek(600 * 1024 * 1024, Deno.SeekMode.Start);
  await file.write(new TextEncoder().encode("\nlast\n"));
  file.close();
  const result = await gate.act("read_file", { path: "huge.log", limit: 1 });
  assertEquals(result, {
    status: "ok",
    output: "first\n[lines 1 to 1 of more than 1; go on with offset 2]",
  });
});

Deno.test("read_file leaves out whole lines rather than cut the middle out", async () => {
  await using gate = await gateFixture({ maxOutputBytes: 2_000 });
  await fill(gate, { "a.txt": "0123456789\n".repeat(1_000) });
  const { output } = await gate.act("read_file", { path: "a.txt" });
  assertMatch(output, /\n0123456789\n\[lines 1 to (\d+) of 1000; go on with offset \d+\]$/);
  assert(!output.includes("cut"));
});

testBoth("write_file makes folders, keeps a mode and replaces in one step", async (gate) => {
  const { workspace } = gate;
  const made = await gate.act("write_file", { path: "new/deep/a.txt", content: "ä\n" });
  assertEquals(made, { status: "ok", output: "Made new/deep/a.txt, 3 bytes" });
  assertEquals(await Deno.readTextFile(`${workspace}/new/deep/a.txt`), "ä\n");
  await Deno.writeTextFile(`${workspace}/run.sh`, "old", { mode: 0o750 });
  await Deno.chmod(`${workspace}/run.sh`, 0o750);
  const replaced = await gate.act("write_file", { path: "run.sh", content: "new" });
  assertEquals(replaced, { status: "ok", output: "Replaced run.sh, 3 bytes" });
  assertEquals((await Deno.stat(`${workspace}/run.sh`)).mode! & 0o777, 0o750);
  assertEquals(await Deno.readTextFile(`${workspace}/run.sh`), "new");
  assertEquals(
    (await gate.act("write_file", { path: "new", content: "" })).output,
    "new is a folder, expected a file",
  );
  assertEquals((await gate.act("write_file", { path: "run.sh/x", content: "" })).status, "refused");
  const lone = await gate.act("write_file", { path: "x", content: "\ud800" });
  assertStringIncludes(lone.output, "content: holds half of a character");
  assertEquals([...Deno.readDirSync(workspace)].map(({ name }) => name).sort(), ["new", "run.sh"]);
});

Deno.test("W15 write_file killed at any moment leaves the old content or the new one", async () => {
  await using gate = await gateFixture();
  const path = `${gate.workspace}/a.txt`;
  const contents = ["a", "b"].map((char) => char.repeat(3_000_000));
  await Deno.writeTextFile(path, contents[0]!);
  const started = performance.now();
  assertEquals(
    (await gate.act("write_file", { path: "a.txt", content: contents[0] })).status,
    "ok",
  );
  const tookMs = performance.now() - started;
  const kills = rounds(24, 8);
  let killed = 0;
  for (let round = 0; round < kills; round++) {
    const controller = new AbortController();
    const next = contents[(round + 1) % 2]!;
    const running = gate.act("write_file", { path: "a.txt", content: next }, {
      signal: controller.signal,
    }).catch(() => killed++);
    // Spread over the whole life of a child: its start, its writing, its rename.
    const timer = setTimeout(() => controller.abort(), tookMs * round / kills);
    await running;
    clearTimeout(timer);
    const now = await Deno.readTextFile(path);
    assert(contents.includes(now), `round ${round}: ${now.length} characters`);
    const left = [...Deno.readDirSync(gate.workspace)].filter(({ name }) => name !== "a.txt");
    assert(left.every(({ name }) => name.startsWith(".a.txt.writing-")));
  }
  assert(killed > 0);
});

testBoth("edit_file replaces exactly one place, or says why not", async (gate) => {
  await fill(gate, {
    "a.ts": "const a = 1;\nconst b = 2;\n\nfunction  f() {\n\treturn a;\n}\nconst b = 2;\n",
    "crlf.txt": "one\r\ntwo\r\nthree\r\n",
    "bom.txt": "\ufeffhello\n",
    "latin.txt": new Uint8Array([0x68, 0xe9, 0x0a]),
  });
  const edit = (path: string, oldText: string, newText: string, more = {}) =>
    gate.act("edit_file", { path, old_text: oldText, new_text: newText, ...more });
  const text = (name: string) => Deno.readTextFile(`${gate.workspace}/${name}`);

  assertEquals((await edit("a.ts", "a = 1", "a = $&")).output, "Changed a.ts at line 1");
  assertMatch(await text("a.ts"), /^const a = \$&;\n/);
  const twice = await edit("a.ts", "const b = 2;", "x");
  assertEquals(twice.status, "failed");
  assertStringIncludes(twice.output, "stands in a.ts 2 times, at lines 2, 7");
  const all = await edit("a.ts", "const b = 2;", "let b;", { replace_all: true });
  assertEquals(all.output, "Changed a.ts 2 times, at lines 2, 7");
  const blanks = await edit("a.ts", "function f() {\n  return a;", "x");
  assertStringIncludes(blanks.output, "tabs, which the file has, at line 4");
  assertStringIncludes(blanks.output, "4: function  f() {\n5: \treturn a;");
  const near = await edit("a.ts", "const a = 3;", "x");
  assertStringIncludes(near.output, "The nearest place, at line 1");
  assertStringIncludes((await edit("a.ts", "zzzzzz", "x")).output, "No line of it is like");
  assertStringIncludes((await edit("a.ts", "let b;\n\n", "let b;\n\n")).output, "the same");
  assertEquals((await edit("crlf.txt", "one\ntwo", "1\n2")).status, "ok");
  assertEquals(await text("crlf.txt"), "1\r\n2\r\nthree\r\n");
  assertEquals((await edit("bom.txt", "hello", "bye")).status, "ok");
  assertEquals(
    await Deno.readFile(`${gate.workspace}/bom.txt`),
    new TextEncoder().encode("\ufeffbye\n"),
  );
  assertStringIncludes((await edit("latin.txt", "h", "x")).output, "no UTF-8 text");
  assertStringIncludes((await edit("a.ts", "", "x")).output, "old_text: is empty");
  assertEquals((await edit("none.txt", "a", "x")).output, "none.txt does not exist");
});

testBoth("search_files finds lines by expression, text and glob", async (gate) => {
  await fill(gate, {
    "src/a.ts": "let x = 1;\nfunction foo() {}\n",
    "src/b.js": "foo(bar)\r\n",
    "notes.md": "Foo.bar\nfoo(bar)\n",
    ".git/config": "foo",
    "node_modules/m/index.js": "foo",
    ".env": "foo",
    "bin": new Uint8Array([0x66, 0x6f, 0x6f, 0]),
    "wide.txt": "x".repeat(1_000) + "foo" + "y".repeat(1_000) + "\n",
  });
  await Deno.symlink("/etc", `${gate.workspace}/etc`);
  const search = async (args: Record<string, unknown>) =>
    (await gate.act("search_files", args)).output;
  assertEquals(
    await search({ pattern: "fo+\\(", glob: "**/*.{ts,js}" }),
    "src/a.ts:2: function foo() {}\nsrc/b.js:1: foo(bar)\n[2 matching lines in 2 of 2 files; 1 with credentials left out]",
  );
  assertEquals(
    await search({ pattern: "foo.bar", literal: true, ignore_case: true }),
    "notes.md:1: Foo.bar\n[1 matching lines in 1 of 4 files; 1 with credentials left out]",
  );
  assertMatch(
    await search({ pattern: "foo", path: "wide.txt" }),
    /^wide\.txt:1: … x{100}fooy+ …\n/,
  );
  assertMatch(
    await search({ pattern: "foo", limit: 1 }),
    /\n\[1 matching lines .*the first 1; there are more/,
  );
  assertStringIncludes(await search({ pattern: "(" }), "literal: true takes it as text");
  assertStringIncludes(await search({ pattern: "x", path: "none" }), "none does not exist");
});

testBoth("tools work on names that a shell or a flag would trip over", async (gate) => {
  for (
    const name of [
      "a,b/c,d.txt",
      "-rf",
      "--allow-all",
      "a b",
      "ä\u0301.txt",
      "$HOME",
      "'\"",
      "*",
      "a\nb",
    ]
  ) {
    const made = await gate.act("write_file", { path: name, content: name });
    assertEquals([name, made.status], [name, "ok"], made.output);
    const read = await gate.act("read_file", { path: name });
    assertEquals([name, read], [name, { status: "ok", output: name }]);
  }
});

/** Counts the processes that are started from now on. */
function countStarts(): { readonly starts: number } & Disposable {
  const own = Deno.Command;
  let starts = 0;
  Deno.Command = class extends own {
    constructor(...args: ConstructorParameters<typeof own>) {
      super(...args);
      starts++;
    }
  };
  return {
    get starts() {
      return starts;
    },
    [Symbol.dispose]: () => void (Deno.Command = own),
  };
}

Deno.test({
  ...needs("the file actions of a turn take two processes, and each is recorded", "bubblewrap"),
  async fn() {
    await using gate = await gateFixture();
    await fill(gate, { "a.txt": "a\n", "sub/b.txt": "b\n" });
    // What is tried out once is no part of a turn.
    await gate.act("read_file", { path: "a.txt" }, { context: { turnId: "before" } });
    const before = (await gate.records()).length;
    using counted = countStarts();
    const act = (tool: string, args: unknown, context = {}) => gate.act(tool, args, { context });
    for (let read = 0; read < 100; read++) {
      assertEquals((await act("read_file", { path: "a.txt" })).output, "a");
    }
    assertEquals(counted.starts, 1);
    const records = (await gate.records()).slice(before)
      .filter(({ kind }) => kind.startsWith("action."));
    assertEquals(
      records.map(({ kind }) => kind),
      Array.from({ length: 100 }, () => ["action.start", "action.end"]).flat(),
    );
    const reads: [string, unknown][] = [
      ["list_files", {}],
      ["search_files", { pattern: "b" }],
      ["read_file", { path: "sub/b.txt" }],
      ["read_file", { path: "gone" }],
    ];
    await Promise.all(reads.map(([tool, args]) => act(tool, args)));
    assertEquals(counted.starts, 1);
    await act("write_file", { path: "sub/b.txt", content: "c" });
    await act("edit_file", { path: "sub/b.txt", old_text: "c", new_text: "d" });
    await act("write_file", { path: "new/c.txt", content: "c" });
    assertEquals(counted.starts, 2);
    assertEquals((await act("read_file", { path: "sub/b.txt" })).output, "d");
    assertEquals((await act("read_file", { path: "new/c.txt" })).output, "c");
    assertEquals(counted.starts, 2);

    await act("read_file", { path: "a.txt" }, { sessionKey: "cli:other" });
    assertEquals(counted.starts, 3);
    gate.actions.turnEnded("turn-1");
    await act("read_file", { path: "a.txt" });
    assertEquals(counted.starts, 4);
  },
});

Deno.test({
  ...needs("a worker takes no file that was swapped after the decision", "bubblewrap"),
  async fn() {
    const root = await Deno.realPath(await Deno.makeTempDir());
    const workspace = `${root}/ws`;
    await Deno.mkdir(`${workspace}/sub`, { recursive: true });
    await Deno.mkdir(`${root}/outside`);
    for (const path of ["ws/.env", "outside/a.txt"]) {
      await Deno.writeTextFile(`${root}/${path}`, "secret");
    }
    const silent = () => {};
    const log = { debug: silent, info: silent, warning: silent, error: silent };
    const executor = createExecutor({ cacheDir: `${root}/cache`, log });
    /** What comes of an action that is run when something has happened since it was decided on. */
    const run = async (name: string, args: Record<string, unknown>, swap: () => void) => {
      const tool = findTool(name)!;
      const checked = tool.schema.parse(args);
      const target = await resolveTouch(tool, checked, { path: workspace, real: workspace }, {
        from: { channel: "cli", sessionKey: "s" },
      });
      swap();
      const settings = { workspace, maxOutputBytes: 1_000 };
      const turn = { sessionKey: "s", turnId: "t" };
      const job = actionJob(sealAction(tool, checked, target), tool, settings, turn);
      assert(job.worker !== undefined);
      const { signal } = new AbortController();
      return JSON.stringify(await executor.run(job, { signal, onProgress: silent }));
    };
    const cases: [string, Record<string, unknown>][] = [
      ["read_file", { path: "sub/a.txt" }],
      ["search_files", { path: "sub/a.txt", pattern: "." }],
      ["write_file", { path: "sub/a.txt", content: "x" }],
      ["edit_file", { path: "sub/a.txt", old_text: "s", new_text: "x" }],
    ];
    for (const [name, args] of cases) {
      // A worker may read what is linked to in the first, and its link leads nowhere in the others.
      for (const link of ["../.env", `${root}/outside/a.txt`, "folder"]) {
        await Deno.remove(`${workspace}/sub`, { recursive: true });
        await Deno.mkdir(`${workspace}/sub`);
        await Deno.writeTextFile(`${workspace}/sub/a.txt`, "a");
        const outcome = await run(name, args, () => {
          const swapped = link === "folder" ? `${workspace}/sub` : `${workspace}/sub/a.txt`;
          Deno.removeSync(swapped, { recursive: true });
          Deno.symlinkSync(link === "folder" ? `${root}/outside` : link, swapped);
        });
        assertMatch(outcome, /changed while|No such file/, `${name} ${link}`);
      }
    }
    for (const path of ["ws/.env", "outside/a.txt"]) {
      assertEquals(await Deno.readTextFile(`${root}/${path}`), "secret");
    }
    await executor.shutdown();
    await Deno.remove(root, { recursive: true });
  },
});
