import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import fc from "fast-check";
import { ServiceError } from "../base/errors.ts";
import { CAPABILITIES, type Capability, type Target } from "../contract/actions.ts";
import { grantTarget } from "../policy/grant_target.ts";
import { checkGrant, type GrantFields } from "../policy/grants.ts";
import { tempState } from "./testing/temp_state.ts";

const COMMAND = grantTarget({
  kind: "command",
  argv: ["/bin/sh", "-c", "ls | wc -l"],
  program: "/usr/bin/dash",
  cwd: "/work space",
})!;

const MCP_TOOL = `files/read#${"0123456789abcdef".repeat(4)}`;

const GOOD: readonly GrantFields[] = [
  { subject: "api:reports", capability: "fs.read", target: "/srv/a b.csv", note: "why" },
  { subject: "automation:7", capability: "fs.write", target: "/", note: "" },
  { subject: "telegram.work:-100", capability: "net.fetch", target: "https://a.b/c?d#e", note: "" },
  { subject: "cli:default", capability: "message.send", target: "irc:#room:x", note: "" },
  { subject: "cli:default", capability: "exec", target: COMMAND, note: "" },
  { subject: "cli:default", capability: "mcp.call", target: MCP_TOOL, note: "" },
  { subject: "cli:default", capability: "secret.use", target: "KEY@api.a.b:443", note: "" },
  { subject: "cli:default", capability: "secret.use", target: `KEY@${COMMAND}`, note: "" },
  {
    subject: "cli:default",
    capability: "secret.use",
    target: `KEY@${COMMAND.replace('"program"', '"hosts":["a.example:443"],"program"')}`,
    note: "",
  },
];

Deno.test("G2 find() takes a grant for exactly what it says, and for nothing near it", async () => {
  await using temp = await tempState();
  const { grants, close } = await temp.open();
  for (const grant of GOOD) {
    const added = await grants.add(grant);
    assertMatch(added.id, /^gr_[a-z0-9]{16}$/);
    assertEquals(grants.find({ subject: grant.subject }, grant.capability, grant.target), added);
  }
  for (const { subject, capability, target } of GOOD) {
    for (
      const near of [`${target} `, `${target}x`, target.slice(0, -1), target.toUpperCase(), ""]
    ) {
      if (near !== target) {
        assertEquals(grants.find({ subject }, capability, near), undefined, near);
      }
    }
    assertEquals(grants.find({ subject: `${subject}2` }, capability, target), undefined);
    for (const other of CAPABILITIES.filter((each) => each !== capability)) {
      assertEquals(grants.find({ subject }, other, target), undefined);
    }
  }
  await close();
});

Deno.test("find() confuses no two grants whatever is in their parts", async () => {
  await using temp = await tempState();
  const { grants, close } = await temp.open();
  const { subject, capability, target } = await grants.add(GOOD[0]!);
  fc.assert(fc.property(fc.string(), fc.string(), (a, b) => {
    const same = a === subject && b === target;
    return same || grants.find({ subject: a }, capability, b) === undefined;
  }));
  assertEquals(
    grants.find({ subject: "api" }, capability, `reports","${capability}","${target}`),
    undefined,
  );
  assertEquals(grants.find({ subject }, capability, target)?.subject, subject);
  await close();
});

Deno.test("add() adds the same once, and remove() takes it back for good", async () => {
  await using temp = await tempState();
  const { grants, close } = await temp.open();
  const [first, second] = await Promise.all([grants.add(GOOD[0]!), grants.add(GOOD[0]!)]);
  assertEquals(first, second);
  assertEquals(grants.list(), [first]);
  assertEquals(await grants.remove(first.id), first);
  assertEquals(grants.find({ subject: first.subject }, first.capability, first.target), undefined);
  const error = await assertRejects(() => grants.remove(first.id), ServiceError);
  assertEquals([error.code, error.details.param], ["not_found", "id"]);
  await close();
  assertEquals(temp.records.map(({ kind, data }) => [kind, data.id]), [
    ["grant.added", first.id],
    ["grant.removed", first.id],
  ]);
});

Deno.test("add() refuses what could never hold, naming the field", async () => {
  await using temp = await tempState();
  const { grants, close } = await temp.open();
  const good = GOOD[0]!;
  const bad: [string, Partial<GrantFields>][] = [
    ["subject", { subject: "" }],
    ["subject", { subject: "default" }],
    ["subject", { subject: "api:" }],
    ["subject", { subject: "api:a\u200bb" }],
    ["subject", { subject: `api:${"x".repeat(301)}` }],
    ["capability", { capability: "fs.delete" as Capability }],
    ["capability", { capability: "*" as Capability }],
    ["target", { target: "" }],
    ["target", { target: "relative" }],
    ["target", { target: "/a/../b" }],
    ["target", { target: "/a//b" }],
    ["target", { target: "/a/" }],
    ["target", { target: "/a\0b" }],
    ["target", { target: `/${"x".repeat(8_000)}` }],
    ["target", { capability: "net.fetch", target: "example.com" }],
    ["target", { capability: "net.fetch", target: "https://EXAMPLE.com/" }],
    ["target", { capability: "net.fetch", target: "https://example.com" }],
    ["target", { capability: "net.fetch", target: "file:///etc/passwd" }],
    ["target", { capability: "message.send", target: "telegram" }],
    ["target", { capability: "message.send", target: ":1" }],
    ["target", { capability: "exec", target: "ls" }],
    ["target", { capability: "exec", target: COMMAND.replace("{", "{ ") }],
    ["target", { capability: "exec", target: '{"argv":[],"cwd":"/","program":"/a"}' }],
    ["target", { capability: "exec", target: '{"argv":["a"],"cwd":"/"}' }],
    ["target", { capability: "exec", target: COMMAND.replace("}", ',"x":1}') }],
    ["target", { capability: "secret.use", target: "" }],
    ["note", { note: "x".repeat(501) }],
  ];
  for (const [param, change] of bad) {
    const error = await assertRejects(() => grants.add({ ...good, ...change }), ServiceError);
    const found = [error.code, error.details.param, JSON.stringify(change).slice(0, 80)];
    assertEquals(found, ["invalid_request", param, found[2]]);
    assertMatch(error.message, /^\w+ is ".*"; expected ./s);
    assertEquals(error.message.length < 400, true);
  }
  assertEquals([grants.list(), temp.records], [[], []]);
  await close();
});

Deno.test("add() grants no more than may be, each with the longest of targets and notes", async () => {
  await using temp = await tempState();
  const { grants, close } = await temp.open();
  const { SealedFile } = await import("./sealed_file.ts");
  const { StateLock } = await import("./state_lock.ts");
  const file = new SealedFile<readonly unknown[]>({
    name: "grants",
    dir: temp.dir,
    keysDir: temp.keysDir,
    lock: new StateLock({ path: `${temp.dir}/lock` }),
    empty: [],
    parse: (value) => value as unknown[],
    maxBytes: 16 * 1024 * 1024,
    repair: "",
    now: Date.now,
  });
  const grant = { ...GOOD[0]!, target: `/${"x".repeat(7_999)}`, note: "n".repeat(500) };
  const many = Array.from({ length: 1_000 }, (_, index) => ({
    ...grant,
    id: `gr_${index}`,
    subject: `api:${index}`,
    createdAt: 1,
  }));
  await file.update(() => ({ value: many, result: undefined }));
  assertEquals(grants.find({ subject: "api:999" }, "fs.read", grant.target)?.id, "gr_999");
  const error = await assertRejects(() => grants.add(GOOD[0]!), ServiceError, "1000 grants");
  assertEquals(error.code, "invalid_request");
  await grants.remove("gr_0");
  await grants.add(GOOD[0]!);
  await close();
});

Deno.test("checkGrant() takes the target of every action that can be granted", () => {
  const name = fc.string({ minLength: 1, maxLength: 20, unit: "grapheme" })
    .map((text) => text.replace(/[/\0]/g, "-")).filter((text) => !/^\.{1,2}$/.test(text));
  const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join("/")}`);
  const targets = fc.oneof(
    path.map((real) => ["fs.write", { kind: "path", real }] as const),
    fc.webUrl({ withQueryParameters: true, withFragments: true }).map((url) =>
      ["net.fetch", { kind: "url", url: new URL(url).href }] as const
    ),
    fc.tuple(fc.constantFrom("irc", "telegram.work"), fc.string({ minLength: 1 })).map((
      [channel, chatId],
    ) => ["message.send", { kind: "chat", channel, chatId }] as const),
    fc.tuple(fc.array(fc.string(), { minLength: 1, maxLength: 5 }), path, path).map((
      [argv, program, cwd],
    ) => ["exec", { kind: "command", argv, program, cwd }] as const),
  );
  fc.assert(fc.property(targets, ([capability, target]) => {
    const text = grantTarget(target as Target)!;
    checkGrant({ subject: "api:a", capability, target: text, note: "" });
  }));
});
