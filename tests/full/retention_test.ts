/** `service prune` and `retention`, as people and scripts use them, on a home with a year of data. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { NO_USAGE } from "../../lib/contract/events.ts";
import { openJournal } from "../../lib/journal/open.ts";
import { packArchive } from "../../lib/backup/testing/packed_archive.ts";
import { makeHome, type TestHome } from "../support/home.ts";
import { startModelServer } from "../fakes/model_server.ts";
import { WireSocket } from "../support/wire_socket.ts";

const DAY_MS = 86_400_000;
const GATEWAY = ["gateway", "--json"];

/** Sessions `api:0`, `api:1` … as they would be had each been used some days ago; the oldest first. */
async function fillJournal(home: TestHome, daysAgo: readonly number[]): Promise<void> {
  await home.run(["sessions", "list"]);
  let now = 0;
  const journal = openJournal({ path: `${home.dir}/home/data/service.db`, now: () => now });
  for (const [n, days] of daysAgo.entries()) {
    now = Date.now() - days * DAY_MS;
    const id = `turn-${n}`;
    const text = "What is new? ".repeat(20);
    await journal.accept({
      id,
      sessionKey: `api:${n}`,
      channel: "api",
      actor: "api:test",
      input: [{ type: "text", text }],
      durable: false,
    });
    await journal.start(id);
    await journal.append(id, [{ type: "text_delta", streamId: "s", text }]);
    await journal.end(id, {
      event: { type: "turn_end", status: "done", finishReason: "stop", usage: NO_USAGE },
      forget: false,
    });
  }
  await journal.close();
}

function keysOf(home: TestHome): string[] {
  using db = new DatabaseSync(`${home.dir}/home/data/service.db`, { readOnly: true });
  return db.prepare("SELECT key FROM sessions WHERE key NOT NULL ORDER BY key").all()
    .map(({ key }) => key as string);
}

Deno.test("prune shows what would go, removes exactly that with and without a service, and records it", async () => {
  await using home = await makeHome();
  await home.configure({ retention: { sessions: { maxAgeDays: 365 } } });
  await fillJournal(home, [500, 450, 400, 100, 9]);
  const plan = await home.run(["prune", "--dry-run"]);
  assertEquals(plan.code, 0, plan.stderr);
  assertMatch(
    plan.stdout,
    /WOULD REMOVE +COUNT +SIZE\nsessions +3 +[\d.]+ kB\n {2}api:0\n {2}api:1\n {2}api:2\n$/,
  );
  const unsure = await home.run(["prune"]);
  assertEquals(unsure.code, 2);
  assertStringIncludes(unsure.stderr, "add --yes");
  assertEquals(keysOf(home).length, 5);
  const found = JSON.parse((await home.run(["prune", "--dry-run", "--json"])).stdout);

  await using gateway = await home.start(GATEWAY);
  const done = await home.run(["prune", "--yes", "--json"]);
  assertEquals(JSON.parse(done.stdout), { ...found, dry_run: false });
  assertEquals(keysOf(home), ["api:3", "api:4"]);
  const again = JSON.parse((await home.run(["prune", "--yes", "--json"])).stdout);
  assertEquals(again.removed[0].count, 0);
  const listed = await home.run(["audit", "list", "--kind", "retention.removed", "--json"]);
  const records = listed.stdout.trim().split("\n").map((line) => JSON.parse(line).data);
  assertEquals(records.map(({ by, data, names }) => [by, data, names]), [
    ["cli", "sessions", ["api:0", "api:1", "api:2"]],
  ]);
  assertEquals(await gateway.stop(), 0);
  assertEquals((await home.run(["audit", "verify"])).code, 0);
});

Deno.test("prune over HTTP takes a token for operators", async () => {
  await using home = await makeHome();
  await home.configure({ retention: { sessions: { maxMiB: 1 } } });
  const tokens: Record<string, string> = {};
  for (const scope of ["operate", "read"]) {
    const issued = await home.run(["tokens", "issue", "--scopes", scope, "--json"]);
    tokens[scope] = JSON.parse(issued.stdout).token;
  }
  await using gateway = await home.start(GATEWAY);
  const url = new URL("/api/webui/retention/prune", gateway.wsUrl.replace(/^ws/, "http"));
  const ask = (scope: string, body: unknown) =>
    fetch(url, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens[scope]}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const answer = await ask("operate", { dry_run: true });
  assertEquals([answer.status, await answer.json()], [200, {
    dry_run: true,
    removed: [{ kind: "sessions", count: 0, bytes: 0, names: [] }],
  }]);
  const refused = await ask("read", { dry_run: true });
  assertEquals(refused.status, 403);
  await refused.body?.cancel();
  const wrong = await ask("operate", { dry_run: "yes" });
  assertEquals([wrong.status, (await wrong.json()).error.param], [400, "dry_run"]);
});

Deno.test("prune keeps a session whose turn runs, and one that is pinned, whatever their age", async () => {
  const hold = Promise.withResolvers<void>();
  await using model = startModelServer({
    script: async () => {
      await hold.promise;
      return { text: "late" };
    },
  });
  await using home = await makeHome({
    agent: { model: "local/fake" },
    providers: { local: { baseUrl: model.baseUrl } },
    retention: { sessions: { maxAgeDays: 30 } },
  });
  await fillJournal(home, [60, 50, 40]);
  const pinned = await home.run(["sessions", "pin", "api:2"]);
  assertEquals([pinned.code, pinned.stderr], [0, "Pinned api:2: retention keeps it\n"]);
  await using gateway = await home.start(["serve", "--port", "0", "--json"]);
  const asking = fetch(`${gateway.apiUrl}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ messages: [{ role: "user", content: "hi" }], session_id: "0" }),
  });
  await model.request(0);
  const { removed: [sessions] } = JSON.parse(
    (await home.run(["prune", "--yes", "--json"])).stdout,
  );
  assertEquals(sessions.names, ["api:1"]);
  await home.run(["sessions", "unpin", "api:2"]);
  const { removed: [unpinned] } = JSON.parse(
    (await home.run(["prune", "--yes", "--json"])).stdout,
  );
  assertEquals(unpinned.names, ["api:2"]);
  hold.resolve();
  assertEquals((await (await asking).json()).choices[0].message.content, "late");
});

Deno.test("kill -9 in the middle of a prune leaves whole sessions alone, and a log that verifies", async () => {
  await using home = await makeHome();
  await home.configure({ retention: { sessions: { maxAgeDays: 30 } } });
  const old = Array.from({ length: 400 }, (_, n) => 400 - n / 10);
  await fillJournal(home, [...old, 9, 8]);
  {
    await using gateway = await home.start(GATEWAY);
    const pruning = home.run(["prune", "--yes"]);
    // Some have gone and others have not.
    while (keysOf(home).length > 350) await new Promise((resolve) => setTimeout(resolve));
    await gateway.kill();
    await pruning;
  }
  const left = keysOf(home);
  assert(left.length >= 2 && left.length <= 352, `${left.length}`);
  for (const key of ["api:400", "api:401"]) assert(left.includes(key));
  const { stdout } = await home.run(["doctor", "--offline", "--json"]);
  const checks = JSON.parse(stdout).checks as { name: string; status: string }[];
  assertEquals(checks.find(({ name }) => name === "database")?.status, "ok");
  await home.run(["prune", "--yes"]);
  assertEquals(keysOf(home), ["api:400", "api:401"]);
  const verified = await home.run(["audit", "verify"]);
  assertEquals(verified.code, 0, verified.stdout);
});

Deno.test("media, backups, logs and the audit log go by age, and what is left is whole", async () => {
  await using home = await makeHome();
  const backups = `${home.dir}/backups`;
  await home.configure({
    audit: { rotateBytes: 65_536 },
    retention: {
      media: { maxAgeDays: 30 },
      audit: { maxMiB: 1 },
      logs: { maxAgeDays: 30 },
      backups: { folder: backups, maxAgeDays: 30 },
    },
  });
  const long = new Date(Date.now() - 60 * DAY_MS);
  const media = `${home.dir}/home/data/media`;
  {
    await using gateway = await home.start(GATEWAY);
    using socket = await WireSocket.open(gateway.wsUrl);
    const data_url = "data:image/png;base64," +
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
    socket.send({
      type: "message",
      chat_id: socket.chatId,
      content: "look",
      media: [{ data_url, name: "pixel.png" }],
    });
    await socket.next("turn_end");
    await gateway.stop();
  }
  const [file] = [...Deno.readDirSync(media)];
  await Deno.utime(`${media}/${file!.name}`, long, long);
  await Deno.mkdir(backups);
  for (const day of [1, 2]) {
    const createdAt = new Date(long.getTime() + day * DAY_MS).toISOString();
    const name = createdAt.replace(/[-:]|\.\d+/g, "");
    const bytes = await packArchive({ both: { createdAt } });
    await Deno.writeFile(`${backups}/service-backup-${name}.tar.gz`, bytes);
  }
  await Deno.mkdir(`${home.dir}/home/logs`);
  await Deno.writeTextFile(`${home.dir}/home/logs/service.log.1`, "old\n");
  await Deno.utime(`${home.dir}/home/logs/service.log.1`, long, long);

  const { stdout, code } = await home.run(["prune", "--yes", "--json"]);
  const counts = JSON.parse(stdout).removed.map((
    { kind, count }: { kind: string; count: number },
  ) => [kind, count]);
  assertEquals([code, counts], [0, [["media", 1], ["audit", 0], ["logs", 1], ["backups", 1]]]);
  assertEquals([...Deno.readDirSync(media)], []);
  assertEquals([...Deno.readDirSync(backups)].length, 1);
  // The conversation says that the file is gone, and goes on.
  const answer = await home.run(["agent", "-m", "and now?", "--session", "x", "--no-stdin"]);
  assertEquals(answer.code, 0, answer.stderr);
  assertEquals((await home.run(["audit", "verify"])).code, 0);
});

Deno.test("limits that make no sense stop the start, and name the key", async () => {
  await using home = await makeHome();
  for (
    const [retention, words] of [
      [{ sessions: { maxAgeDays: 3 } }, "retention.sessions.maxAgeDays"],
      [{ media: { maxAgeDays: -1 } }, "retention.media.maxAgeDays"],
      [{ dailyAt: "25:00" }, "retention.dailyAt"],
    ] as const
  ) {
    await home.configure({ retention });
    const { code, stderr } = await home.run(["gateway"]);
    assertEquals(code, 3);
    assertStringIncludes(stderr, words);
  }
});
