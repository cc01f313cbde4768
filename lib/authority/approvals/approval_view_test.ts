import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import fc from "fast-check";
import type { ResolvedAction, Target } from "../actions.ts";
import { approvalView } from "./approval_view.ts";
import { CONTEXT } from "../testing/gate_fixture.ts";
import { visibleLine } from "../visible_text.ts";

function view(target: Target, args: unknown, context = CONTEXT) {
  const action: ResolvedAction = {
    tool: "a_tool",
    capability: "fs.write",
    args,
    target,
    digest: "a".repeat(64),
  };
  return approvalView({ action, context, id: "apr_1", createdAt: 1, expiresAt: 2 });
}

const CHAT: Target = { kind: "chat", channel: "telegram", chatId: "1" };
// What a person would not see, or see elsewhere; a line break only in details.
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\u00a0\u2800\u3164\ufe0f]/u;

Deno.test("approvalView() shows nothing hidden, whatever stands in an action", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary" }),
      fc.string({ unit: "binary" }),
      (name, value) => {
        const context = { ...CONTEXT, actor: value, sessionKey: value };
        const shown = view({ ...CHAT, chatId: value }, { [name]: value }, context);
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

Deno.test("approvalView() states each cut and stays within bounds", () => {
  const long = "x".repeat(1_000_000);
  const shown = view({ ...CHAT, chatId: long }, { content: long, more: `${long}\n` });
  assert(shown.target.length < 2_200 && shown.details.length < 25_000);
  assertStringIncludes(shown.target, "998009 more characters; the digest covers them]");
  assertStringIncludes(shown.details, "992000 more characters; the digest covers them]");
  const many = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`a${n}`, long]));
  assert(view(CHAT, many).details.length < 25_000);
  assertStringIncludes(view(CHAT, many).details, "more characters; the digest covers them]");
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
  assertEquals(shown.details, "program: /usr/bin/rm\nfolder: /w");
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
    "secret: NPM_TOKEN\ngiven to: npm ci\nprogram: /usr/bin/npm\nfolder: /w",
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
