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
  const chars = new Chars(text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n"));
  const variables: GitVariable[] = [];
  let section: string | undefined;
  while (!chars.atEnd) {
    const next = chars.take();
    if (isBlank(next) || next === "\n") continue;
    if (next === "#" || next === ";") chars.takeWhile((char) => char !== "\n");
    else if (next === "[") {
      section = takeSection(chars);
      if (section === undefined) return;
    } else {
      if (section === undefined || !/[A-Za-z]/.test(next)) return;
      const key = next + chars.takeWhile((char) => /[A-Za-z0-9-]/.test(char));
      chars.takeWhile((char) => char === " " || char === "\t");
      const after = chars.take();
      const value = after === "=" ? takeValue(chars) : after === "\n" ? "" : undefined;
      if (value === undefined) return;
      variables.push({ name: `${section}.${key.toLowerCase()}`, value });
    }
  }
  return variables;
}

/** A text from which one character after the other is taken; line ends stand behind it. */
class Chars {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  get atEnd(): boolean {
    return this.#at >= this.#text.length;
  }

  take(): string {
    return this.#text[this.#at++] ?? "\n";
  }

  takeWhile(is: (char: string) => boolean): string {
    const start = this.#at;
    while (!this.atEnd && is(this.#text[this.#at]!)) this.#at++;
    return this.#text.slice(start, this.#at);
  }
}

/** What follows a `[`. */
function takeSection(chars: Chars): string | undefined {
  const name = chars.takeWhile((char) => /[A-Za-z0-9.-]/.test(char)).toLowerCase();
  const blanks = chars.takeWhile(isBlank);
  const next = chars.take();
  if (next === "]") return blanks === "" ? name : undefined;
  if (next !== '"' || blanks === "") return;
  let sub = "";
  for (let char = chars.take(); char !== '"'; char = chars.take()) {
    if (char === "\\") char = chars.take();
    if (char === "\n") return;
    sub += char;
  }
  return chars.take() === "]" ? `${name}.${sub}` : undefined;
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  b: "\b",
  '"': '"',
  "\\": "\\",
  "\n": "",
};

/** What follows a `=`, up to the end of the line on which it ends. */
function takeValue(chars: Chars): string | undefined {
  let value = "";
  let blanks = "";
  let isQuoted = false;
  for (;;) {
    const char = chars.take();
    if (char === "\n") return isQuoted ? undefined : value;
    if (!isQuoted && isBlank(char)) {
      if (value !== "") blanks += char;
      continue;
    }
    if (!isQuoted && (char === "#" || char === ";")) {
      chars.takeWhile((char) => char !== "\n");
      continue;
    }
    value += blanks;
    blanks = "";
    if (char === '"') isQuoted = !isQuoted;
    else if (char === "\\") {
      const escaped = ESCAPES[chars.take()];
      if (escaped === undefined) return;
      value += escaped;
    } else value += char;
  }
}

function isBlank(char: string): boolean {
  return char === " " || char === "\t" || char === "\r";
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
