import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { needs } from "../../tests/support/needs.ts";
import { type GateFixture, gateFixture } from "./testing/gate_fixture.ts";

/** What git would start for the person; it leaves a file beside itself. */
const PAYLOAD = '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n';

interface Attack {
  name: string;
  /** What the person has, as a text for the shell in the workspace. */
  before?: string;
  /** What commands of the agent's do; `$P` is a program of the agent's that git is to start. */
  commands: string[];
  /** What the person does afterwards. */
  person: string;
}

const ATTACKS: Attack[] = [
  {
    name: "commondir leads a repository to another configuration",
    before: "git init -q .",
    commands: [
      "git init -q evil; git -C evil config core.fsmonitor $P; echo ../evil/.git > .git/commondir",
    ],
    person: "git status",
  },
  {
    name: "a hook is put where core.hooksPath leads",
    before: "git init -q .; mkdir -p .husky/_; cp /bin/true .husky/_/pre-commit; " +
      "git config core.hooksPath .husky/_",
    commands: ["cp $P .husky/pre-commit; rm -f .husky/_/pre-commit; cp $P .husky/_/pre-commit"],
    person: "echo x > f; git add f; git commit -qm x; sh .husky/pre-commit",
  },
  {
    name: "a hook is put where core.hooksPath leads, and nothing was",
    before: "git init -q .; git config core.hooksPath tools/hooks",
    commands: ["mkdir -p tools/hooks; cp $P tools/hooks/pre-commit"],
    person: "echo x > f; git add f; git commit -qm x",
  },
  {
    name: "a configuration that another one includes is written",
    before: "git init -q .; echo > shared.cfg; git config include.path ../shared.cfg",
    commands: [
      "git config -f shared.cfg core.fsmonitor $P; mv shared.cfg x; git config -f shared.cfg core.fsmonitor $P",
    ],
    person: "git status",
  },
  {
    name: "a script that the configuration names is written",
    before: "git init -q .; mkdir tools; cp /bin/cat tools/clean; " +
      "git config filter.x.clean './tools/clean %f'; echo '* filter=x' > .gitattributes",
    commands: ["rm -f tools/clean; cp $P tools/clean; mv tools t2; mkdir tools; cp $P tools/clean"],
    person: "echo x > f; git add f",
  },
  {
    name: "the command makes a repository of its own",
    commands: ["git init -q sub/deep; git -C sub/deep config core.fsmonitor $P"],
    person: "cd sub/deep; git status",
  },
  {
    name: "the command makes a repository with a hook",
    commands: [
      "git init -q new; cp $P new/.git/hooks/post-index-change; cp $P new/.git/hooks/pre-commit",
    ],
    person: "cd new; echo x > f; git add f; git commit -qm x",
  },
  {
    name: "a folder becomes a repository without a folder .git",
    commands: [
      "mkdir -p docs/objects docs/refs; echo 'ref: refs/heads/main' > docs/HEAD; " +
      "printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = %s\\n' $P > docs/config",
    ],
    person: "cd docs; git status",
  },
  {
    name: "a file .git leads elsewhere",
    commands: [
      "mkdir -p evil/objects evil/refs sub; echo 'ref: refs/heads/main' > evil/HEAD; " +
      "git config -f evil/config core.fsmonitor $P; echo 'gitdir: ../evil' > sub/.git",
    ],
    person: "cd sub; git status",
  },
  {
    name: "a link .git leads elsewhere",
    commands: [
      "git init -q evil; mv evil/.git evil/store; git config -f evil/store/config core.fsmonitor $P; " +
      "mkdir sub; ln -s ../evil/store sub/.git",
    ],
    person: "cd sub; git status",
  },
  {
    name: "a worktree is led to another configuration",
    before: "git init -q .; git commit -q --allow-empty -m x; git worktree add -q tree",
    commands: [
      "git init -q evil; git -C evil config core.fsmonitor $P; " +
      'echo "$PWD/evil/.git" > .git/worktrees/tree/commondir; ' +
      'rm -f .git/worktrees/tree/commondir; echo "$PWD/evil/.git" > .git/worktrees/tree/commondir; ' +
      "echo 'gitdir: ../evil/.git' > tree/.git",
    ],
    person: "cd tree; git status",
  },
  {
    name: "a configuration is another name of a file that stays open to writing",
    commands: [
      "git init -q new; mv new/.git/config notes; ln notes new/.git/config",
      "printf '[core]\\n\\tfsmonitor = %s\\n' $P >> notes",
    ],
    person: "cd new; git status",
  },
  {
    name: "git writes the agent's words through a link",
    before: "git init -q .; git commit -q --allow-empty -m x",
    commands: [
      "printf '#!/bin/sh\\ntouch %s/ran\\n' $PWD > .git/MERGE_MSG; rm -f .git/COMMIT_EDITMSG; " +
      "ln -s $PWD/../startup .git/COMMIT_EDITMSG; rm -rf .git/logs; mkdir .git/logs; " +
      "ln -s $PWD/../startup .git/logs/HEAD",
    ],
    person: "GIT_EDITOR=true git commit -q --allow-empty; cat ../startup; sh ../startup",
  },
  {
    name: "a rebase that the person goes on with starts a program",
    before:
      "git init -q -b main .; echo a > f; git add f; git commit -qm a; git checkout -qb side; " +
      "echo b > f; git commit -qam b; git checkout -q main; echo c > f; git commit -qam c; git rebase side",
    commands: ['echo "exec $P" >> .git/rebase-merge/git-rebase-todo'],
    person: "echo d > f; git add f; GIT_EDITOR=true git rebase --continue",
  },
  {
    name: "a further worktree of the person's repository has hooks of its own",
    before: "git init -q .; git commit -q --allow-empty -m x; git config core.hooksPath hooks",
    commands: [
      "git worktree add -q tree; mkdir tree/hooks; cp $P tree/hooks/pre-commit",
      "mkdir tree/hooks; cp $P tree/hooks/pre-commit",
    ],
    person: "cd tree; git commit -q --allow-empty -m y",
  },
];

/** Runs a text for the shell as the person at this machine; what it prints. */
async function asPerson(gate: GateFixture, text: string): Promise<string> {
  const { stdout, stderr } = await new Deno.Command("/bin/sh", {
    args: ["-c", text],
    cwd: gate.workspace,
    clearEnv: true,
    env: {
      PATH: "/usr/bin:/bin",
      HOME: gate.root,
      P: `${gate.workspace}/payload`,
      GIT_AUTHOR_NAME: "n",
      GIT_AUTHOR_EMAIL: "n@localhost",
      GIT_COMMITTER_NAME: "n",
      GIT_COMMITTER_EMAIL: "n@localhost",
      GIT_CONFIG_NOSYSTEM: "1",
    },
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

function ran(folder: string): boolean {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    if (name === "ran" || (isDirectory && ran(`${folder}/${name}`))) return true;
  }
  return false;
}

for (const { name, before = "true", commands, person } of ATTACKS) {
  Deno.test({
    ...needs(`exec leaves nothing that the person's git starts: ${name}`, "bubblewrap", "git"),
    async fn() {
      await using gate = await gateFixture();
      await Deno.writeTextFile(`${gate.workspace}/payload`, PAYLOAD, { mode: 0o755 });
      await asPerson(gate, before);
      assert(!ran(gate.workspace));
      const outputs: string[] = [];
      for (const command of commands) {
        const text = `P=${gate.workspace}/payload; (${command}) 2>&1`;
        const { status, output } = await gate.act("exec", { command: text });
        assertEquals(status, "ok", output);
        outputs.push(output);
      }
      outputs.push(await asPerson(gate, person));
      assert(!ran(gate.workspace), outputs.join("\n"));
    },
  });
}

Deno.test({
  ...needs(
    "exec lets git do its work in repositories that were there and in new ones",
    "bubblewrap",
    "git",
  ),
  async fn() {
    await using gate = await gateFixture();
    const env =
      "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@l GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@l; set -e; ";
    await asPerson(gate, "git init -q -b main old; cd old; git commit -q --allow-empty -m first");
    const ways = [
      "cd old; echo a > a; git add a; git commit -qm a; git checkout -qb side; echo b > b; git add b; " +
      "git commit -qm b; git checkout -q main; git merge -q --no-ff side; git tag t; git stash list; " +
      "git branch hooks/config; git rebase -q side; git gc -q; git worktree add -q ../tree; git status --porcelain",
      "git init -q -b main new; cd new; echo a > a; git add a; git commit -qm a; git clone -q . ../copy",
      "cd new; echo b > a; git commit -qam b; git log --oneline | wc -l",
      "cd tree; echo b > c; git add c; git commit -qm c; cd ../copy; git pull -q; git log --oneline | wc -l",
    ];
    for (const way of ways) {
      const { status, output } = await gate.act("exec", { command: `${env}(${way}) 2>&1` });
      assertEquals(status, "ok", output);
      assertStringIncludes(output, "exit code 0", output);
      assert(!output.includes("held"), output);
    }
    assertEquals(
      await asPerson(
        gate,
        "cd old; git fsck; git status --porcelain; ls .git/commondir 2> /dev/null",
      ),
      "",
    );
    assertStringIncludes(
      await asPerson(gate, "cd copy; git remote get-url origin; git status"),
      gate.workspace,
    );
  },
});

Deno.test("writing where git looks for more than data needs a person", async () => {
  await using gate = await gateFixture();
  const { workspace } = gate;
  const folders = [
    ".git/hooks",
    ".git/refs",
    ".git/worktrees/t",
    "hooks/more",
    "bare/refs",
    "half",
  ];
  for (const name of folders) await Deno.mkdir(`${workspace}/${name}`, { recursive: true });
  await Deno.writeTextFile(
    `${workspace}/.git/config`,
    `[include]\n\tpath = ../shared.cfg\n[filter "x"]\n\tclean = sh tools/clean.sh %f\n`,
  );
  await Deno.writeTextFile(`${workspace}/shared.cfg`, "[Core] hooksPATH = hooks # here\n");
  await Deno.writeTextFile(`${workspace}/bare/HEAD`, "ref: refs/heads/main\n");
  await Deno.writeTextFile(`${workspace}/half/HEAD`, "ref: refs/heads/main\n");
  // Nobody is there who could be asked.
  const write = (path: string) => gate.act("write_file", { path, content: "x" });
  for (
    const path of [
      ".git/commondir",
      ".git/gitdir",
      ".git/config.worktree",
      ".git/unknown",
      ".git/remotes/origin",
      ".git/worktrees/t/commondir",
      ".git/modules/a/config",
      ".git/modules/refs/config",
      ".git/rebase-merge/git-rebase-todo",
      "sub/.git/commondir",
      "sub/.GIT/CommonDir",
      "sub/.git",
      "sub/.envrc",
      "sub/deep/AGENTS.md",
      "hooks/pre-commit",
      "hooks/more/x",
      "shared.cfg",
      "tools/clean.sh",
      "bare/config",
      "bare/hooks/pre-commit",
      "half/config",
      "anywhere/HEAD",
      "anywhere/commondir",
    ]
  ) {
    const { status, output } = await write(path);
    assertEquals([path, status], [path, "refused"], output);
    assertStringIncludes(output, "makes other programs run or obey");
  }
  for (
    const path of [
      ".git/HEAD",
      ".git/refs/heads/main",
      ".git/refs/heads/hooks/config",
      ".git/info/exclude",
      ".git/MERGE_MSG",
      ".git/index.lock",
      "bare/refs/heads/x",
      "bare/description",
      "config",
      "sub/hooks/x",
      "tools/other.sh",
    ]
  ) {
    const { status, output } = await write(path);
    assertEquals([path, status], [path, "ok"], output);
  }
});

Deno.test({
  ...needs("exec leaves no .envrc and no AGENTS.md that it made", "bubblewrap"),
  async fn() {
    await using gate = await gateFixture();
    const { workspace } = gate;
    const command =
      "mkdir -p a/b; echo x > a/.envrc; echo x > a/b/AGENTS.md; echo y > a/agents.MD; " +
      "ln -s b/AGENTS.md a/b/.envrc; echo kept > a/b/kept";
    const { status, output } = await gate.act("exec", { command });
    assertEquals(status, "ok", output);
    assertStringIncludes(output, `"${workspace}/a/.envrc"`);
    const names = (folder: string) => [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
    assertEquals(names(`${workspace}/a`), [".envrc.held", "agents.MD.held", "b"]);
    assertEquals(names(`${workspace}/a/b`), [".envrc.held", "AGENTS.md.held", "kept"]);
    assertEquals(gate.logged.filter(({ message }) => message.includes("held")).length, 1);
    // A second time, and when its turn is cancelled or its time is up.
    const again = await gate.act("exec", { command: "echo z > a/.envrc; sleep 60", timeout_s: 1 });
    assertEquals(again.status, "failed");
    const left = names(`${workspace}/a`);
    assertEquals([left.length, left.includes(".envrc")], [4, false], String(left));
  },
});
