/** What a backup of a living service holds, and what a home made of it does. */

import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import { exportSession } from "../../lib/journal/export_session.ts";
import { openJournal } from "../../lib/journal/open.ts";
import { openOperatorState, type OperatorState } from "../../lib/state/operator_state.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { makeHome, type RunOptions, type TestHome } from "../support/home.ts";
import { fillDisk, mountNeeds, mountSmallDisk } from "../support/mounts.ts";
import { needs } from "../support/needs.ts";
import { WireSocket } from "../support/wire_socket.ts";

const GATEWAY = ["gateway", "--json"];
const MIB = 1024 * 1024;

/** Runs a command that has to work; its output. */
async function run(home: TestHome, args: string[], options?: RunOptions): Promise<string> {
  const { code, stdout, stderr } = await home.run(args, options);
  assertEquals(code, 0, `${args}: ${stderr}`);
  return stdout;
}

const namesIn = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();

/** Works on the operators' state of a home in a folder. */
async function withState<T>(
  home: TestHome,
  folder: string,
  use: (state: OperatorState) => T | Promise<T>,
): Promise<T> {
  const dir = `${home.dir}/${folder}`;
  await Deno.mkdir(dir, { recursive: true });
  const state = await openOperatorState({ dir: `${dir}/operator`, keysDir: `${dir}/keys` });
  try {
    return await use(state);
  } finally {
    await state.close();
  }
}

/** Everything on record of a chat in the home of a folder. */
async function exported(home: TestHome, folder: string, chatId: string): Promise<unknown[]> {
  const copy = `${home.dir}/${folder}.db`;
  for (const suffix of ["", "-wal"]) {
    const path = `${home.dir}/${folder}/data/service.db${suffix}`;
    await Deno.copyFile(path, `${copy}${suffix}`).catch(() => {});
  }
  const journal = openJournal({ path: copy });
  const session = journal.sessions({ limit: 1_000 }).find(({ key }) => key.endsWith(chatId))!;
  const { signal } = new AbortController();
  const records = await Array.fromAsync(exportSession(journal, session, signal));
  await journal.close();
  return records;
}

/** An image of one red pixel. */
const PIXEL =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

Deno.test("a backup of a service that answers restores to a home with everything in it, and nothing runs again", async () => {
  await using model = startModelServer({
    script: ({ body }) => {
      const { content } = body.messages.findLast(({ role }: { role: string }) => role === "user");
      const said = JSON.stringify(content);
      if (said.includes("wait")) return { text: ["so ", "far ", "so good"], hang: 2 };
      return { text: Array.from({ length: 50 }, (_, at) => `word${at} `), delayMs: 5 };
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl, apiKey: "${secret:MODEL_KEY}" } },
  });
  const token = await withState(home, "home", async ({ secrets, grants, tokens }) => {
    await secrets.set({ name: "MODEL_KEY", value: "key-0123456789" });
    await grants.add({
      subject: "cli:two",
      capability: "net.fetch",
      target: "https://example.org/",
      note: "",
    });
    return (await tokens.issue({ name: "", scopes: ["approve"] })).token;
  });

  const restored = { env: { SERVICE_HOME: `${home.dir}/restored` } };
  let chat_id: string, epoch: string, last: number, automation: string;
  {
    await using gateway = await home.start(GATEWAY);
    using done = await WireSocket.open(gateway.wsUrl);
    chat_id = done.chatId;
    const media = [{ data_url: `data:image/png;base64,${PIXEL}`, name: "pixel.png" }];
    done.send({ type: "message", chat_id, content: "look", media });
    const { seq } = await done.next("turn_end");
    last = seq!;
    done.send({ type: "attach", chat_id });
    epoch = (await done.next("attached")).epoch;
    const created = await run(home, ["automations", "create", "-m", "wait", "--every", "1d"]);
    automation = created.trim();
    await run(home, ["automations", "run", automation]);
    await (await model.request(1)).hanging;

    using busy = await WireSocket.open(gateway.wsUrl);
    busy.send({ type: "message", chat_id: busy.chatId, content: "talk" });
    await busy.next("delta");
    const [first, second] = await Promise.all([
      run(home, ["backup", `${home.dir}/a.tar.gz`, "--json"]),
      run(home, ["backup", `${home.dir}/b.tar.gz`]),
    ]);
    assertEquals((await Deno.stat(`${home.dir}/a.tar.gz`)).mode! & 0o777, 0o600);
    assertStringIncludes(second, `${home.dir}/b.tar.gz`);
    assert(JSON.parse(first).files > 15, first);
    await busy.next("turn_end");
    assertEquals(busy.find("error"), undefined);
    const refused = await home.run(["restore", `${home.dir}/a.tar.gz`, "--force"]);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "Stop it first");
    await gateway.kill();
  }
  const asked = model.requests.length;

  const answer = JSON.parse(
    await run(home, ["restore", `${home.dir}/a.tar.gz`, "--json"], restored),
  );
  assertEquals([answer.settled.runs, answer.auditProblem], [1, undefined]);
  assert(answer.settled.turns >= 1, JSON.stringify(answer));
  const files = (folder: string) =>
    namesIn(`${home.dir}/${folder}/data/media`).map((name) => [
      name,
      Deno.readFileSync(`${home.dir}/${folder}/data/media/${name}`).toBase64(),
    ]);
  assertEquals(files("restored"), files("home"));
  assertEquals(await exported(home, "restored", chat_id), await exported(home, "home", chat_id));
  await withState(home, "restored", ({ grants, tokens }) => {
    assertEquals(grants.list().map(({ target }) => target), ["https://example.org/"]);
    assertEquals(tokens.verify(token)?.scopes, ["approve"]);
  });

  await using gateway = await home.start(GATEWAY, restored);
  using client = await WireSocket.open(gateway.wsUrl);
  client.send({ type: "attach", chat_id, after_seq: last, epoch });
  assertNotEquals((await client.next("attached")).epoch, epoch);
  await client.next("turn_end");
  const replayed = client.frames.find((frame) => "seq" in frame && frame.seq === 1);
  assert(replayed !== undefined, "from the beginning");
  const history = await run(home, ["automations", "history", automation, "--json"], restored);
  assertEquals(JSON.parse(history).state, "failed");
  assertEquals(model.requests.length, asked, "what was under way is not asked again");

  client.send({ type: "message", chat_id, content: "again" });
  await client.next("turn_end", ({ seq }) => seq! > last);
  assertEquals(model.requests.at(-1)!.headers.get("authorization"), "Bearer key-0123456789");
  const verified = await home.run(["audit", "verify"], restored);
  assertEquals(verified.code, 0, verified.stdout);
});

Deno.test("backup writes to standard output, and replaces nothing unasked", async () => {
  await using home = await makeHome({});
  await run(home, ["sessions", "list"]);
  const file = `${home.dir}/a.tar.gz`;
  const child = home.spawn(["backup", "-"]);
  const { code, stdout } = await child.output();
  assertEquals(code, 0);
  await Deno.writeFile(file, stdout);
  await run(home, ["restore", file, "--verify"]);

  const again = await home.run(["backup", file]);
  assertEquals(again.code, 1);
  assertStringIncludes(again.stderr, "--force");
  assertEquals(await Deno.readFile(file), stdout);
  await run(home, ["backup", file, "--force"]);
  assertNotEquals(await Deno.readFile(file), stdout);

  const inside = await home.run(["backup", `${home.dir}/home/a.tar.gz`]);
  assertStringIncludes(inside.stderr, `it is inside "${home.dir}/home"`);
  const both = await home.run(["backup", "-", "--json"]);
  assertEquals(both.code, 2);
  assertMatch(await run(home, ["backup"]), /service-backup-\d{8}T\d{6}Z\.tar\.gz/);
  assertEquals(namesIn(home.dir).filter((name) => name.endsWith(".tmp")), []);
  assertEquals(namesIn(`${home.dir}/home`).filter((name) => name.startsWith("backup")), []);
});

/** Waits for a name in a folder. */
async function appears(folder: string, pattern: RegExp): Promise<string> {
  while (true) {
    const name = namesIn(folder).find((each) => pattern.test(each));
    if (name !== undefined) return name;
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

Deno.test("kill -9 in the middle of a backup or a restore leaves nothing half done, and the next one cleans up", async () => {
  await using home = await makeHome({});
  const big = new Uint8Array(24 * MIB);
  for (let at = 0; at < big.length; at += 65_536) {
    crypto.getRandomValues(big.subarray(at, at + 65_536));
  }
  await Deno.mkdir(`${home.dir}/home/data`);
  await Deno.writeFile(`${home.dir}/home/data/big`, big);
  const file = `${home.dir}/a.tar.gz`;
  const kill = async (args: string[], pattern: RegExp) => {
    const child = home.spawn(args, restored);
    const output = child.output();
    await appears(home.dir, pattern);
    child.kill("SIGKILL");
    await output;
  };
  const restored = { env: {} as Record<string, string> };

  await kill(["backup", file], /^a\.tar\.gz\..*\.tmp$/);
  assert(!namesIn(home.dir).includes("a.tar.gz"));
  await run(home, ["backup", file]);
  assertEquals(namesIn(home.dir).filter((name) => name.startsWith("a.tar")), ["a.tar.gz"]);
  // The folders of its audit record came with it.
  const names = ["audit", "config.json", "data", "keys", "operator", "run"];
  assertEquals(namesIn(`${home.dir}/home`), names);
  const [record, ...more] = (await run(home, ["audit", "list", "--kind", "backup", "--json"]))
    .trim().split("\n").map((line) => JSON.parse(line));
  assertEquals([record.kind, more], ["backup.written", []]);
  const { by, file: written, workspace } = record.data;
  assertEquals([by, written, workspace], ["cli", file, false]);

  restored.env.SERVICE_HOME = `${home.dir}/other`;
  await kill(["restore", file], /^other\.restore-/);
  assert(!namesIn(home.dir).includes("other"));
  await run(home, ["restore", file], restored);
  assertEquals(namesIn(home.dir).filter((name) => name.startsWith("other")), ["other"]);
  assertEquals(await Deno.readFile(`${home.dir}/other/data/big`), big);
});

Deno.test("SIGTERM in the middle of a backup removes what it wrote", async () => {
  await using home = await makeHome({});
  await Deno.mkdir(`${home.dir}/home/data`);
  await Deno.writeFile(`${home.dir}/home/data/big`, new Uint8Array(128 * MIB));
  const child = home.spawn(["backup", `${home.dir}/a.tar.gz`]);
  const output = child.output();
  await appears(home.dir, /\.tmp$/);
  child.kill("SIGTERM");
  const { code, stderr } = await output;
  assertEquals([code, new TextDecoder().decode(stderr)], [130, "Stopped. No backup was written\n"]);
  assertEquals(namesIn(home.dir).filter((name) => name.startsWith("a.tar")), []);
});

Deno.test(
  needs("a full disk fails a backup and a restore, and leaves nothing", ...mountNeeds()),
  async () => {
    await using home = await makeHome({});
    const big = crypto.getRandomValues(new Uint8Array(65_536));
    await Deno.mkdir(`${home.dir}/home/data`);
    for (const name of ["a", "b", "c"]) await Deno.writeFile(`${home.dir}/home/data/${name}`, big);
    await Deno.mkdir(`${home.dir}/disk`);
    using _disk = mountSmallDisk(`${home.dir}/disk`, "1m");
    using _full = fillDisk(`${home.dir}/disk`, 100_000);
    const filled = namesIn(`${home.dir}/disk`);
    const failed = await home.run(["backup", `${home.dir}/disk/a.tar.gz`]);
    assertEquals(failed.code, 1);
    assertStringIncludes(failed.stderr, "Cannot write the backup");
    assertEquals(namesIn(`${home.dir}/disk`), filled);

    await run(home, ["backup", `${home.dir}/a.tar.gz`]);
    const restored = { env: { SERVICE_HOME: `${home.dir}/disk/home` } };
    const refused = await home.run(["restore", `${home.dir}/a.tar.gz`], restored);
    assertEquals(refused.code, 1);
    assertStringIncludes(refused.stderr, "bytes free");
    assertEquals(namesIn(`${home.dir}/disk`), filled);
    const mounted = { env: { SERVICE_HOME: `${home.dir}/disk` } };
    const { stderr } = await home.run(["restore", `${home.dir}/a.tar.gz`, "--force"], mounted);
    assertStringIncludes(stderr, "mount point");
  },
);

Deno.test("the audit log of a restored home verifies; against a mirror it is a known loss", async () => {
  await using home = await makeHome();
  await home.configure({ audit: { mirror: `${home.dir}/mirror.jsonl` } });
  await run(home, ["sessions", "list"]);
  await run(home, ["backup", `${home.dir}/a.tar.gz`]);
  await run(home, ["tokens", "issue", "--scopes", "approve"]);
  await run(home, ["tokens", "issue", "--scopes", "approve"]);
  const restored = JSON.parse(
    await run(home, ["restore", `${home.dir}/a.tar.gz`, "--force", "--json"]),
  );
  const alone = await home.run(["audit", "verify", "--mirror", ""]);
  assertEquals(alone.code, 0, alone.stdout + alone.stderr);
  const against = await home.run(["audit", "verify"]);
  assertEquals(against.code, 1);
  assertStringIncludes(against.stdout, "mirror");
  await run(home, ["audit", "verify", "--known-loss", `${restored.auditSeq}`]);
});

Deno.test(
  needs("a workspace is backed up when it is asked for, without what its links lead to", "tar"),
  async () => {
    await using home = await makeHome({});
    const workspace = `${home.dir}/home/workspace`;
    await Deno.mkdir(`${workspace}/.git/refs`, { recursive: true });
    await Deno.writeTextFile(`${workspace}/run.sh`, "echo hi", { mode: 0o755 });
    await Deno.symlink("/etc", `${workspace}/etc`);
    const files = async (...args: string[]) => {
      await run(home, ["backup", `${home.dir}/a.tar.gz`, "--force", ...args]);
      const { stdout } = await new Deno.Command("tar", { args: ["tzf", `${home.dir}/a.tar.gz`] })
        .output();
      return new TextDecoder().decode(stdout).trim().split("\n");
    };
    assertEquals(await files(), ["backup.json", "home/config.json", "manifest.json"]);
    const rest = (await files("--workspace")).filter((name) => !name.startsWith("home/"));
    // In the order of the folder.
    assertEquals(rest.toSorted(), [
      "backup.json",
      "manifest.json",
      "workspace/.git/",
      "workspace/.git/refs/",
      "workspace/run.sh",
    ]);
    const restored = { env: { SERVICE_HOME: `${home.dir}/other` } };
    await run(home, ["restore", `${home.dir}/a.tar.gz`], restored);
    assertEquals((await Deno.stat(`${home.dir}/other/workspace/run.sh`)).mode! & 0o777, 0o700);
  },
);
