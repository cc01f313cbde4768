import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { FULL_RUN } from "../../tests/support/rounds.ts";
import { gateFixture } from "./testing/gate_fixture.ts";

/** Folders in each other: more than files can be held, and just before the longest path that is looked at. */
const DEPTH = 900;

interface Flood {
  name: string;
  /** A text for the shell in the workspace. */
  command: string;
  /** What the command is told; without it, it ends well. */
  told?: string;
  /** In the full run alone. */
  isLong?: true;
}

const FLOODS: Flood[] = [
  {
    name: "keys in one folder",
    command: "mkdir many; cd many; for i in $(seq 520); do : > $i.pem; done",
  },
  {
    name: "keys beside each other in the workspace",
    isLong: true,
    command: "for i in $(seq 520); do echo $i > $i.pem; done",
    told: "520 more files to hide or to guard than the workspace has room for",
  },
  {
    name: "a key in each of many folders",
    isLong: true,
    command: "mkdir $(seq -f f%g 520); for i in $(seq 520); do : > f$i/x.key; done",
    told: "than the workspace has room for",
  },
  {
    name: "keys in many folders of one folder",
    isLong: true,
    command: "mkdir d $(seq -f d/%g 520); for i in $(seq 520); do : > d/$i/x.key; done",
  },
  {
    name: "keys with long names, whose blanks count four times",
    command:
      "name=$(printf '%0200d' 0 | tr 0 ' '); mkdir d; for i in $(seq 300); do : > \"d/$name$i.pem\"; done",
  },
  {
    name: "repositories",
    isLong: true,
    command: "mkdir -p $(seq -f r%g/.git/objects 410); for i in $(seq 410); " +
      "do cd r$i/.git; echo 'ref: refs/heads/m' > HEAD; printf '[core]\\n\\tbare = false\\n' > config; " +
      "cd ../..; done",
    told: "than the workspace has room for",
  },
  {
    name: "files that an agent obeys",
    command: "mkdir $(seq -f e%g 150); for i in $(seq 150); do echo x > e$i/.envrc; done",
  },
  {
    name: "a folder whose name is no UTF-8",
    command: "mkdir \"$(printf 'caf\\351')\"; touch \"$(printf 'caf\\351')/x\"",
  },
  {
    name: "such a folder in another one",
    command:
      "mkdir -p \"sub/$(printf '\\377\\376')\"; echo key > \"sub/$(printf '\\377\\376')/.env\"",
  },
  {
    name: "a key whose name is no UTF-8",
    command: "echo key > \"$(printf '\\377.pem')\"; : > \"$(printf 'caf\\303\\251.pem')\"",
  },
  {
    name: "links of git",
    command:
      "mkdir sub; ln -s /nowhere sub/.git; mkdir -p b/.git; ln -s ../../x b/.git/hooks; ln -s x b/.git/config",
  },
  {
    name: "a path that is longer than any may be",
    command:
      "name=$(printf '%0200d' 0); for i in $(seq 30); do mkdir $name; cd $name; done; : > x.pem",
  },
  {
    name: "hundreds of folders in each other",
    isLong: true,
    command: `path=$(printf 'a/%.0s' $(seq ${DEPTH})); mkdir -p $path; cd $path; : > x.pem`,
  },
  {
    name: "a pipe where a configuration is expected",
    command: "mkdir -p sub/.git/hooks; mkfifo sub/.git/config sub/.git/HEAD sub/.git/commondir",
  },
  {
    name: "folders that nobody may read or write",
    command: "mkdir -p x y; echo x > x/.envrc; : > y/a.pem; chmod 555 x; chmod 0 y",
  },
];

for (const { name, command, told, isLong = false } of FLOODS) {
  Deno.test({
    ...needs(
      `exec goes on for everybody after a command that left ${name}`,
      "bubblewrap",
      isLong && FULL_RUN,
    ),
    async fn() {
      await using gate = await gateFixture();
      const { status, output } = await gate.act("exec", {
        command: `(${command}) 2> /dev/null; echo made`,
      });
      assertStringIncludes(output, "made\n");
      assertEquals(status, told === undefined ? "ok" : "failed", output);
      assertStringIncludes(output, told ?? "exit code 0");
      const next = await gate.act("exec", {
        command: "echo on; find . -name '*.pem' -exec cat {} + 2> /dev/null; true",
      });
      assertEquals([next.status, next.output], ["ok", "on\n[exit code 0]"]);
      assert(output.length < 4_000, output);
      // Who isn't root could remove nothing else.
      await new Deno.Command("/bin/chmod", {
        args: ["-R", "u+rwx", gate.workspace],
        stderr: "null",
      })
        .output();
    },
  });
}

Deno.test({
  ...needs(
    "exec goes on for everybody while a command that left too many keys still runs",
    "bubblewrap",
    FULL_RUN,
  ),
  async fn() {
    await using gate = await gateFixture();
    const left = Promise.withResolvers<void>();
    const flooding = gate.act("exec", {
      command:
        "for i in $(seq 520); do : > $i.pem; done; echo left; until [ -e stop ]; do sleep 0.05; done",
    }, { onProgress: () => left.resolve() });
    await left.promise;
    const next = await gate.act("exec", { command: "touch stop; echo on" });
    await Deno.writeTextFile(`${gate.workspace}/stop`, "");
    assertEquals(next.output, "on\n[exit code 0]");
    assertStringIncludes((await flooding).output, "left\n");
  },
});
