/**
 * Names of files that hold credentials, and of files that make other programs run something
 * (decisions E2). The gate judges targets by them, and children skip them while they walk a folder.
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

/** Whether writing to a path can make git, a shell or this agent run or obey something. */
export function isGuardedPath(path: string): boolean {
  const names = foldPath(path);
  const last = names.at(-1);
  if (last === ".envrc" || last === "agents.md") return true;
  const git = names.findIndex((name) => name === ".git" || name === "git~1");
  if (git === -1) return false;
  // A file of that name points git to any folder.
  if (git === names.length - 1) return true;
  return names.indexOf("hooks", git) !== -1 || last === "config" || last === "config.worktree";
}
