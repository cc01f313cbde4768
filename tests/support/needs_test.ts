import { assertEquals } from "@std/assert";
import { createNeeds, findProgram, isProgram, type Machine, type Need, PROGRAMS } from "./needs.ts";

/** A Linux of a plain user with these programs. */
function machine(programs: readonly string[], more: Partial<Machine> = {}): Machine {
  return {
    os: "linux",
    path: "/usr/bin",
    uid: 1000,
    isProgram: (path) => programs.includes(path),
    run: () => "",
    ...more,
  };
}

Deno.test("findProgram() looks in the folders of PATH, in their order", () => {
  const here = machine(["/two/fish", "/three/fish"], { path: "/one::/two:/three" });
  assertEquals(findProgram(PROGRAMS.fish, here), "/two/fish");
  assertEquals(findProgram(PROGRAMS.zsh, here), undefined);
  assertEquals(findProgram(PROGRAMS.fish, { ...here, path: "/one" }), undefined);
  assertEquals(findProgram(PROGRAMS.fish, { ...here, path: "" }), undefined);
});

Deno.test("findProgram() looks in the sbin beside a bin, and beside no other folder", () => {
  const find = (path: string) =>
    findProgram(PROGRAMS.ngircd, machine(["/usr/sbin/ngircd"], { path }));
  for (const path of ["/usr/bin", "/usr/bin/", "/usr/sbin"]) {
    assertEquals(find(path)?.replace("//", "/"), "/usr/sbin/ngircd");
  }
  for (const path of ["/usr/node", "/usr", "/usr/node-bin"]) assertEquals(find(path), undefined);
});

Deno.test("findProgram() finds on Windows what ends in .exe", () => {
  const here = machine(["C:\\Git/git.exe", "C:\\Git/fish.exe"], {
    os: "windows",
    path: "C:\\Node;C:\\Git",
  });
  assertEquals(findProgram(PROGRAMS.fish, here), "C:\\Git/fish.exe");
});

Deno.test("findProgram() knows a program that others share the name of by what it prints", () => {
  const here = machine(["/bsd/script", "/usr/bin/script"], { path: "/bsd:/usr/bin" });
  const run = (file: string) => file.startsWith("/usr") ? "script from util-linux 2.38" : "";
  assertEquals(findProgram(PROGRAMS.script, { ...here, run }), "/usr/bin/script");
  assertEquals(findProgram(PROGRAMS.script, { ...here, run: () => undefined }), undefined);
});

Deno.test("findProgram() takes what the service starts from the system's folders alone", () => {
  const programs = ["/home/me/bin/bwrap", "/home/me/bin/zsh"];
  const here = machine(programs, { path: "/home/me/bin" });
  assertEquals(findProgram(PROGRAMS.bubblewrap, here), undefined);
  assertEquals(findProgram(PROGRAMS.zsh, here), "/home/me/bin/zsh");
});

Deno.test("isProgram() takes a file that may be executed, and nothing else", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/program`, "", { mode: 0o755 });
    await Deno.writeTextFile(`${folder}/text`, "", { mode: 0o644 });
    assertEquals(
      ["program", "text", "none", "."].map((name) => isProgram(`${folder}/${name}`)),
      [true, Deno.build.os === "windows", false, false],
    );
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("needs() leaves the name of a test that has all it needs, and else says what is missing", () => {
  const needs = createNeeds(machine(["/usr/bin/openssl"]));
  for (const all of [[], ["openssl"], ["openssl", "Unix", false]] as (Need | false)[][]) {
    assertEquals(needs("it works", ...all), { name: "it works", ignore: false });
  }
  const missing: [string, (Need | false)[]][] = [
    ["prosody", ["openssl", "prosody"]],
    ["nginx and root", ["nginx", "root", "nginx"]],
    ["dovecot, exim and git", ["dovecot", "exim", "git"]],
    ["a private address", [{ what: "a private address", isThere: false }, "openssl"]],
  ];
  for (const [words, all] of missing) {
    assertEquals(needs("it works", ...all), { name: `it works (needs ${words})`, ignore: true });
  }
});

Deno.test("needs() knows the system and its user", () => {
  const ignored = (more: Partial<Machine>) =>
    (["Linux", "Unix", "root"] as const).filter((need) =>
      createNeeds(machine([], more))("it works", need).ignore
    );
  assertEquals(ignored({}), ["root"]);
  assertEquals(ignored({ uid: 0 }), []);
  assertEquals(ignored({ os: "darwin" }), ["Linux", "root"]);
  assertEquals(ignored({ os: "windows", uid: null }), ["Linux", "Unix", "root"]);
});

Deno.test("needs() tells a bubblewrap that the kernel refuses from one that is missing, and tries it once", () => {
  const tried: string[] = [];
  const nameOn = (programs: string[], printed: string | undefined) => {
    const run = (program: string) => {
      tried.push(program);
      return printed;
    };
    const needs = createNeeds(machine(programs, { run }));
    needs("another", "bubblewrap");
    return needs("it works", "bubblewrap").name;
  };
  assertEquals(nameOn([], ""), "it works (needs bubblewrap)");
  assertEquals(tried, []);
  assertEquals(nameOn(["/usr/bin/bwrap"], ""), "it works");
  assertEquals(nameOn(["/usr/bin/bwrap"], undefined), "it works (needs a working bubblewrap)");
  assertEquals(tried, Array(2).fill("/usr/bin/bwrap"));
});
