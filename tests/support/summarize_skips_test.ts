import { assertEquals } from "@std/assert";
import { createNeeds } from "./needs.ts";
import { summarizeSkips } from "./summarize_skips.ts";

Deno.test("summarizeSkips() says nothing where no test was skipped", () => {
  assertEquals(summarizeSkips([]), { lines: [], unexplained: [] });
});

Deno.test("summarizeSkips() names each program with its tests and its package", () => {
  const { lines, unexplained } = summarizeSkips([
    "xmpp answers (needs prosody and openssl)",
    "xmpp reads files (needs prosody)",
    "email answers (needs dovecot, exim and openssl)",
  ]);
  assertEquals(lines, [
    "dovecot is missing: 1 test skipped. Install it: apt-get install dovecot-imapd",
    "exim is missing: 1 test skipped. Install it: apt-get install exim4-daemon-light",
    "openssl is missing: 2 tests skipped. Install it: apt-get install openssl",
    "prosody is missing: 2 tests skipped. Install it: apt-get install prosody",
    "Install all of these: apt-get install dovecot-imapd exim4-daemon-light openssl prosody",
  ]);
  assertEquals(unexplained, []);
});

Deno.test("summarizeSkips() names other needs and rules that do not apply after the programs", () => {
  const { lines } = summarizeSkips([
    "a full disk is told (needs root)",
    "a socket is made (needs Unix)",
    "a command runs (needs a working bubblewrap)",
    "a command has limits (needs a working bubblewrap and root)",
    "a key is fetched (needs a private address)",
    "a page is shown (needs chromium)",
    "irc as a channel: edits: It edits. (left out: IRC knows no edits (RFC 2812))",
  ]);
  assertEquals(lines, [
    "chromium is missing: 1 test skipped. Install it: apt-get install chromium",
    "needs Unix: 1 test skipped",
    "needs a private address: 1 test skipped",
    "needs a working bubblewrap: 2 tests skipped. Allow this user to create user namespaces, and use bubblewrap 0.8 or later",
    "needs root: 2 tests skipped. Run the tests as root to include them",
    "exempt from a check of channels: 1 test skipped",
  ]);
});

Deno.test("summarizeSkips() reads what needs() writes", () => {
  const needs = createNeeds({
    os: "linux",
    path: "",
    uid: 1,
    isProgram: () => false,
    run: () => undefined,
  });
  const names = [
    needs("one", "curl", "git", "zsh"),
    needs("two (again)", "curl"),
    needs("three", "root"),
  ]
    .map(({ name }) => name);
  assertEquals(summarizeSkips(names).lines.map((line) => line.replace(/ skipped.*/, "")), [
    "curl is missing from the system's folders: 2 tests",
    "git is missing from the system's folders: 1 test",
    "zsh is missing: 1 test",
    "Install all of these: apt-get install curl git zsh",
    "needs root: 1 test",
  ]);
});

Deno.test("summarizeSkips() flags tests that do not say why they were skipped", () => {
  const names = ["it works", "it works (on Tuesdays)", "(needs curl) it works", "two (needs fish)"];
  assertEquals(summarizeSkips(names).unexplained, names.slice(0, 3));
});
