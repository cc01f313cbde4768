/**
 * Names of files that hold credentials, and of files that make other programs run something. The gate
 * judges targets by them, and children skip them while they walk a folder.
 *
 * Names are compared as the most forgiving file system would: without regard to case, Unicode form,
 * invisible characters, trailing dots and spaces. Where the file system is stricter, a few harmless
 * names are protected too.
 *
 * @module
 */

/** Folders whose whole content is protected. */
const CREDENTIAL_FOLDERS = new Set([
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".password-store",
  "keyrings",
  "gcloud",
]);

const CREDENTIAL_FILES = new Set([
  ".netrc",
  "_netrc",
  ".npmrc",
  ".pypirc",
  ".pgpass",
  ".my.cnf",
  ".htpasswd",
  ".dockercfg",
  ".git-credentials",
  ".vault-token",
  "credentials",
  "credentials.json",
  "credentials.toml",
]);

const CREDENTIAL_ENDINGS = [
  ".pem",
  ".key",
  ".p12",
  ".pfx",
  ".jks",
  ".keystore",
  ".kdbx",
  ".ppk",
];

/** Samples without values, meant to be read. */
const ENV_SAMPLE = /^\.env(\.[^/]+)?\.(example|sample|template|dist)$/;
const SSH_KEY = /^id_(rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)$/;

// Zero-width and direction marks, which HFS+ ignores in names, and the soft hyphen.
const IGNORED = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u206a-\u206f\ufe00-\ufe0f\ufeff]/g;

/** A path's names as the most forgiving file system compares them. */
export function foldPath(path: string): string[] {
  // Almost every path is ASCII, of which only the case can differ.
  // deno-lint-ignore no-control-regex
  const isAscii = /^[\x00-\x7f]*$/.test(path);
  const same = isAscii ? path : path.normalize("NFKC").replace(IGNORED, "");
  const names = same.toLowerCase().split(/[/\\]/);
  return names.map(foldName).filter((name) => name !== "");
}

/** NTFS drops dots and spaces from a name's end, and takes what follows a colon as a stream. */
function foldName(name: string): string {
  if (!name.includes(":") && !/[. ]$/.test(name)) return name;
  return name.replace(/(?<=.):.*$/, "").replace(/(?<=[^.])[. ]+$/, "");
}

/** Whether a path (any separator-joined names) leads to credentials. */
export function isCredentialPath(path: string): boolean {
  const names = foldPath(path);
  const last = names.at(-1);
  if (last === undefined) return false;
  if (names.some((name) => CREDENTIAL_FOLDERS.has(name))) return true;
  if (CREDENTIAL_FILES.has(last) || SSH_KEY.test(last)) return true;
  if (last === ".env" || last.startsWith(".env.")) return !ENV_SAMPLE.test(last);
  if (last === "config.json" && names.at(-2) === ".docker") return true;
  return CREDENTIAL_ENDINGS.some((ending) => last.endsWith(ending));
}

/** Folders of a repository whose whole content git takes as data. */
const GIT_DATA_FOLDERS = new Set([
  "objects",
  "refs",
  "logs",
  "reftable",
  "info",
  "rr-cache",
  "lfs",
  "branches",
  "rebase-merge",
  "rebase-apply",
  "sequencer",
]);

/** Files of a repository that are data: MERGE_HEAD and its like among them, locks, and what was put aside. */
const GIT_DATA_FILE =
  /^(?:head|index(?:\..+)?|sharedindex\..+|packed-refs|shallow|description|locked|gc\.(?:log|pid)|[a-z]+(?:_[a-z]+)+|.+\.lock)$/;

/** What of a repository makes git start programs or look elsewhere. */
export const GIT_OBEYED: ReadonlySet<string> = new Set([
  "config",
  "config.worktree",
  "commondir",
  "gitdir",
  "hooks",
]);

/** What an interrupted rebase does next: it can start programs. */
export const REBASE_TODO = "git-rebase-todo";
/** Paths that a bisection is about, which scripts of git give to a shell. */
export const BISECT_NAMES = "bisect_names";

/** What was put aside: a name that nobody obeys. */
export const HELD_SUFFIX = ".held";

/**
 * Whether git takes something for data, by its names (folded) below the repository's own folder
 * (https://git-scm.com/docs/gitrepository-layout). The rest is held: what makes git start programs, and
 * what nobody knows.
 */
export function isGitData(names: readonly string[]): boolean {
  const [first = "", ...more] = names;
  if (names.at(-1) === REBASE_TODO || first === BISECT_NAMES) return false;
  if (GIT_DATA_FOLDERS.has(first)) return true;
  return first.endsWith(HELD_SUFFIX) || (more.length === 0 && GIT_DATA_FILE.test(first));
}

/** Whether a folder of that name (folded) is a repository's own. */
export function isGitName(name: string): boolean {
  return name === ".git" || name === "git~1";
}

/** Whether writing to a path can make git, a shell or this agent run or obey something. */
export function isGuardedPath(path: string): boolean {
  const names = foldPath(path);
  const last = names.at(-1);
  if (last === ".envrc" || last === "agents.md") return true;
  let inGit = false;
  for (const [at, name] of names.entries()) {
    if (!isGitName(name)) continue;
    // A file of that name points git to any folder.
    if (!isGitData(names.slice(at + 1))) return true;
    inGit = true;
  }
  // Either makes of any folder a repository, with what else is in it.
  return !inGit && (last === "head" || last === "commondir");
}
