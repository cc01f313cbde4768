import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ResolvedAction, Target } from "../contract/actions.ts";
import { approvalBrief, approvalView } from "./approval_view.ts";
import { CONTEXT } from "../authority/testing/gate_fixture.ts";
import { visibleLine } from "../base/visible_text.ts";
import { anyString } from "../../tests/support/any_string.ts";

function action(target: Target, args: unknown): ResolvedAction {
  return { tool: "a_tool", capability: "fs.write", args, target, digest: "a".repeat(64) };
}

function view(target: Target, args: unknown, { context = CONTEXT, whole = false } = {}) {
  const about = { action: action(target, args), context };
  return approvalView({ ...about, id: "apr_1", createdAt: 1, expiresAt: 2 }, { whole });
}

function brief(target: Target, args: unknown) {
  return approvalBrief(action(target, args));
}

const COMMAND = {
  kind: "command",
  argv: ["npm", "ci"],
  program: "/usr/bin/npm",
  cwd: "/w",
} as const satisfies Target;

const CHAT: Target = { kind: "chat", channel: "telegram", chatId: "1" };
// What a person would not see, or see elsewhere; a line break only in details.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u2800\u3164\ufe0f]/u;

Deno.test("approvalView() shows nothing hidden, whatever stands in an action", () => {
  fc.assert(
    fc.property(
      anyString(),
      anyString(),
      (name, value) => {
        const context = { ...CONTEXT, actor: value, sessionKey: value };
        const shown = view({ ...CHAT, chatId: value }, { [name]: value }, { context });
        for (const text of [shown.target, shown.session, shown.actor]) assert(!HIDDEN.test(text));
        for (const line of shown.details.split("\n")) assert(!HIDDEN.test(line), line);
      },
    ),
  );
  assertEquals(visibleLine("a\u202eb\u200b\u{e0041}\r"), "a\\u{202e}b\\u{200b}\\u{e0041}\\u{000d}");
});

Deno.test("approvalView() lets no argument pass for a line of its own", () => {
  const { details } = view(CHAT, { content: "hi\nprogram: /bin/true", "x\ntarget": "y" });
  assertEquals(details, "content:\n  | hi\n  | program: /bin/true\nx\\u{000a}target: y");
});

Deno.test("approvalView() keeps head and tail, states each cut, and stays within bounds", () => {
  const long = `HEAD${"x".repeat(1_000_000)}TAIL`;
  const args = { content: long, more: `${long}\n` };
  const shown = view({ ...CHAT, chatId: long }, args);
  assert(shown.target.length < 2_200 && shown.details.length < 25_000);
  assert(!shown.isWhole);
  assertStringIncludes(shown.target, "998017 characters not shown; the digest covers them");
  assertStringIncludes(shown.details, "992008 characters not shown; the digest covers them");
  for (const text of [shown.target, shown.details]) {
    assert(/HEAD/.test(text) && /TAIL/.test(text));
  }
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, long]));
  assert(view(CHAT, many).details.length < 25_000);
  assertStringIncludes(view(CHAT, many).details, "characters not shown; the digest covers them");

  const whole = view({ ...CHAT, chatId: long }, args, { whole: true });
  assert(whole.isWhole);
  assertEquals(whole.target, `telegram:${long}`);
  assertEquals(whole.details, `content:\n  | ${long}\nmore:\n  | ${long}\n  | `);
});

Deno.test("approvalBrief() has the facts first and whole, and is approved only when nothing is cut", () => {
  const hosts = ["a.net:443"];
  const long = `echo HEAD; ${"true; ".repeat(10_000)} echo TAIL`;
  for (const size of [0, 500, 1_600, 1_700, 3_000, 100_000]) {
    const text = `${"y".repeat(size)}z`;
    const target: Target = { ...COMMAND, argv: ["/bin/sh", "-c", text], hosts };
    const { text: shown, isWhole } = brief(target, { command: text, secrets: ["NPM_TOKEN"] });
    assertEquals(shown.split("\n").slice(0, 4), [
      "program: /usr/bin/npm",
      "folder: /w",
      "network: a.net:443",
      "secrets: NPM_TOKEN",
    ]);
    assertEquals([size, isWhole], [size, shown.includes(text)]);
    assert(shown.length <= 2_400, `${shown.length}`);
    assertEquals(isWhole, size < 1_700);
  }
  const shown = brief({ ...COMMAND, argv: ["/bin/sh", "-c", long] }, {}).text;
  assert(shown.includes("echo HEAD") && shown.includes("echo TAIL"));
  const path: Target = {
    kind: "path",
    access: "write",
    path: "/w/a",
    real: "/w/a",
    viaLink: false,
    folder: { real: "/w", dev: 1, ino: 1 },
  };
  const lines = brief(path, { path: "a", content: "x\n".repeat(5_000) }).text.split("\n");
  assertEquals(lines.slice(0, 2), ["/w/a", "access: write (does not exist yet)"]);
});

Deno.test("approvalBrief() lets no part of a cut text pass for a line of its own", () => {
  fc.assert(fc.property(fc.nat(6_000), fc.nat(400), (before, width) => {
    const line = `${"x".repeat(width)}\n`;
    const content = `${line.repeat(20)}${"y".repeat(before)}program: /bin/true\n${line.repeat(40)}`;
    for (const { text } of [brief(CHAT, { content }), { text: view(CHAT, { content }).details }]) {
      for (const each of text.split("\n").slice(1)) {
        assert(/^(content:| {2}\| |\[… \d+ characters not shown)/.test(each), each);
      }
    }
  }));
});

Deno.test("approvalView() names words that could be taken for others, before everything else", () => {
  const [first] = view({ ...CHAT, chatId: "p\u0430ypal" }, {}).details.split("\n");
  assertEquals(first, 'caution, letters that look like others: "p\\u{430}ypal"');
  const texts: [Target, unknown][] = [
    [CHAT, { content: `${"a ".repeat(50_000)} p\u0430ypal ${"b ".repeat(50_000)}` }],
    [{ ...COMMAND, argv: ["/bin/sh", "-c", "curl g\u0131t"] }, {}],
    [{ ...COMMAND, argv: ["rm", "\u2212rf", "x"] }, {}],
    [{ ...COMMAND, cwd: "/w/\u0441" }, {}],
  ];
  for (const [target, args] of texts) {
    assertStringIncludes(brief(target, args).text.split("\n").slice(0, 2).join("\n"), "caution");
    assert(view(target, args).details.startsWith("caution"));
  }
  const many = view(CHAT, {
    content: Array.from({ length: 9 }, (_, n) => `p\u0430${n}`).join(" "),
  });
  assertStringIncludes(many.details, " and 4 more");
  for (const word of ["Größe", "файл", "日本語Tシャツ"]) {
    assert(!view({ ...CHAT, chatId: word }, { content: word }).details.includes("caution"));
  }
});

Deno.test("approvalView() shows a command's arguments apart, its program and its folder", () => {
  const target: Target = {
    kind: "command",
    argv: ["rm", "-rf", "a b", "it's"],
    program: "/usr/bin/rm",
    cwd: "/w",
  };
  const shown = view(target, {});
  assertEquals(shown.target, "rm -rf 'a b' 'it'\\''s'");
  assertEquals(
    shown.details,
    "program: /usr/bin/rm\nfolder: /w\ncommand: rm -rf 'a b' 'it'\\''s'",
  );
  // Once, and what the facts don't say.
  const args = { command: "a\nb", cwd: ".", timeout_s: 5, hosts: [], secrets: [] };
  assertEquals(
    view({ ...target, argv: ["/bin/sh", "-c", "a\nb"] }, args).details,
    "program: /usr/bin/rm\nfolder: /w\nshell command:\n  | a\n  | b\ntimeout_s: 5",
  );
});

Deno.test("approvalView() shows the hosts of a command, the tool of a server, and who is given a secret", () => {
  const command: Target = {
    kind: "command",
    argv: ["npm", "ci"],
    program: "/usr/bin/npm",
    cwd: "/w",
    hosts: ["a.net:443", "b.net:80"],
  };
  assertStringIncludes(view(command, {}).details, "\nnetwork: a.net:443, b.net:80");
  const mcp: Target = {
    kind: "mcp",
    server: "files",
    tool: "a\u202eb\nserver: x",
    definition: "0",
  };
  const shown = view(mcp, { path: "/etc", server: "trusted", text: "a\nb" });
  assertEquals(shown.target, "files/a\\u{202e}b\\u{000a}server: x");
  assertEquals(
    shown.details,
    "server: files\ntool of the server: a\\u{202e}b\\u{000a}server: x\ndefinition: 0\n" +
      "arguments:\n  path: /etc\n  server: trusted\n  text:\n    | a\n    | b",
  );
  const { argv, program, cwd } = command;
  const given: Target = {
    kind: "secret",
    name: "NPM_TOKEN",
    recipient: { kind: "command", argv, program, cwd },
  };
  assertEquals(view(given, {}).target, "secret NPM_TOKEN for npm ci");
  assertEquals(
    view(given, {}).details,
    "secret: NPM_TOKEN\nprogram: /usr/bin/npm\nfolder: /w\ncommand: npm ci",
  );
  const sent: Target = {
    kind: "secret",
    name: "KEY",
    recipient: { kind: "host", host: "a.net", port: 80, plain: true },
  };
  assertEquals(view(sent, {}).target, "secret KEY for http://a.net:80");
});

Deno.test("approvalView() shows where a path and a host really lead", () => {
  const path: Target = {
    kind: "path",
    access: "write",
    path: "/w/link",
    real: "/etc/passwd",
    viaLink: true,
    file: { isDirectory: false, dev: 1, ino: 2, links: 2 },
    folder: { real: "/etc", dev: 1, ino: 1 },
  };
  assertEquals(view(path, {}).target, "/etc/passwd");
  assertEquals(
    view(path, {}).details,
    "access: write (a file with 2 names)\nthrough a link: /w/link",
  );
  const url: Target = {
    kind: "url",
    url: "https://a.example/",
    host: "a.example",
    port: 443,
    addresses: ["192.0.2.1"],
  };
  assertEquals(view(url, {}).details, "host: a.example, port 443\naddresses: 192.0.2.1");
});
