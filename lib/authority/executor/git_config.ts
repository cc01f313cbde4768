/**
 * Reads a configuration of git: whether it only says what a repository is and where it comes from, and
 * which files it makes git obey or start.
 *
 * Syntax: https://git-scm.com/docs/git-config#_syntax
 *
 * @module
 */

/** One variable: `section.subsection.key` with section and key in lower case. */
export interface GitVariable {
  name: string;
  value: string;
}

/** Longest configuration that is read, bytes. */
export const MAX_CONFIG_BYTES = 256 * 1024;

/** What `git init`, `clone`, `checkout`, `worktree` and `submodule` write, and who commits. */
const DATA_VARIABLE = new RegExp(
  `^(?:${
    [
      "core\\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode" +
      "|symlinks|autocrlf|eol|sparsecheckout|sparsecheckoutcone)",
      "extensions\\.(?:objectformat|refstorage|partialclone|worktreeconfig)",
      "remote\\..+\\.(?:url|pushurl|fetch|push|tagopt|promisor|partialclonefilter|mirror)",
      "branch\\..+\\.(?:remote|pushremote|merge|rebase|description)",
      "submodule\\..+\\.(?:url|active)|submodule\\.active",
      "user\\.(?:name|email)|init\\.defaultbranch|pull\\.rebase|push\\.default",
    ].join("|")
  })$`,
  "s",
);

/** The variables in their order; undefined when it is no configuration that git would take. */
export function parseGitConfig(text: string): GitVariable[] | undefined {
  const variables: GitVariable[] = [];
  let section: string | undefined;
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    let line = lines[at]!.trimStart();
    const head = /^\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]/.exec(line);
    if (head !== null) {
      const sub = head[2]?.replace(/\\(.)/g, "$1");
      section = head[1]!.toLowerCase() + (sub === undefined ? "" : `.${sub}`);
      line = line.slice(head[0].length).trimStart();
    }
    if (line === "" || line.startsWith("#") || line.startsWith(";")) continue;
    const key = /^([A-Za-z][A-Za-z0-9-]*)\s*(=?)/.exec(line);
    if (key === null || section === undefined) return;
    let rest = line.slice(key[0].length);
    if (key[2] === "" && !/^\s*(?:[#;].*)?$/.test(rest)) return;
    // A backslash at the end goes on in the next line.
    while (/(?:^|[^\\])(?:\\\\)*\\$/.test(rest) && at + 1 < lines.length) {
      rest = rest.slice(0, -1) + lines[++at];
    }
    const value = parseValue(rest);
    if (value === undefined) return;
    variables.push({ name: `${section}.${key[1]!.toLowerCase()}`, value });
  }
  return variables;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  b: "\b",
  '"': '"',
  "\\": "\\",
};

function parseValue(text: string): string | undefined {
  let value = "";
  let kept = 0;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (!isQuoted && (char === "#" || char === ";")) break;
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") {
      const escaped = ESCAPES[text[++at] ?? ""];
      if (escaped === undefined) return;
      value += escaped;
    } else if (isQuoted || !/\s/.test(char)) value += char;
    else {
      // Blanks around it do not count.
      if (value !== "") value += char;
      continue;
    }
    kept = value.length;
  }
  return isQuoted ? undefined : value.slice(0, kept);
}

/** Whether it makes git start nothing and read nothing else. `core.worktree` is for the caller to judge. */
export function isDataConfig(variables: readonly GitVariable[]): boolean {
  return variables.every(({ name, value }) =>
    name === "core.worktree" ||
    // `helper::address` starts a program of that name.
    (DATA_VARIABLE.test(name) && !/^(?:-|[\w-]+::)/.test(value))
  );
}

/** A path that git obeys or starts, as it stands in a configuration. */
export interface NamedPath {
  path: string;
  /** `folder`: whatever lies in it too. `word`: of a command, and perhaps no path at all. */
  how: "folder" | "include" | "word";
}

/** What it names that git then obeys or starts. */
export function namedPaths(variables: readonly GitVariable[]): NamedPath[] {
  return variables.flatMap(({ name, value }): NamedPath[] => {
    if (DATA_VARIABLE.test(name) || name === "core.worktree") return [];
    if (name === "core.hookspath") return [{ path: value, how: "folder" }];
    if (/^include(?:if\..+)?\.path$/s.test(name)) return [{ path: value, how: "include" }];
    const words = value.split(/[\s"'`;|&()<>$=]+/).filter((word) => word.includes("/"));
    return [...(name === "core.fsmonitor" ? [value] : []), ...words]
      .map((path) => ({ path, how: "word" }));
  });
}
