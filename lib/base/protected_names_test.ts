import { assertEquals } from "@std/assert";
import { isCredentialPath, isGuardedPath } from "./protected_names.ts";

Deno.test("isCredentialPath() knows credentials by name, in every spelling a file system may take", () => {
  for (
    const path of [
      "/w/.env",
      "/w/.ENV",
      "/w/.env.production",
      "/w/.env.",
      "/w/.env ",
      "/w/.env::$DATA",
      "/w/.e\u200cnv",
      "/w/\uff0eenv",
      "/w/.\u212aube/config",
      "/w/.\u017fsh/config",
      "C:\\w\\.ssh\\config",
      "/h/.ssh",
      "/h/.SSH/id",
      "/h/.aws/config",
      "/h/.docker/config.json",
      "/h/.config/gcloud/x",
      "/w/id_ed25519",
      "/w/tls/server.KEY",
      "/w/a.pem",
      "/w/.netrc",
      "/w/.git-credentials",
    ]
  ) assertEquals([path, isCredentialPath(path)], [path, true]);
  for (
    const path of [
      "/w/env",
      "/w/.envoy/config",
      "/w/environment.ts",
      "/w/.env.example",
      "/w/.env.production.sample",
      "/w/id_rsa.pub",
      "/w/keys.md",
      "/w/monkey",
      "/w/.git/config",
      "/w/config.json",
      "/",
      "",
    ]
  ) assertEquals([path, isCredentialPath(path)], [path, false]);
});

Deno.test("isGuardedPath() knows what git, a shell or the agent obeys", () => {
  for (
    const path of [
      "/w/.git/hooks/pre-commit",
      "/w/.git/hooks",
      "/w/.git/config",
      "/w/.GIT/CONFIG",
      "/w/git~1/config",
      "/w/.git /config",
      "/w/.g\u200dit/config",
      "/w/.git/config.worktree",
      "/w/.git/modules/sub/hooks/x",
      "/w/.git/modules/sub/config",
      "/w/sub/.git",
      "/w/.envrc",
      "/w/a/AGENTS.md",
      "/w/a/agents.MD",
    ]
  ) assertEquals([path, isGuardedPath(path)], [path, true]);
  for (
    const path of ["/w/.git/HEAD", "/w/hooks/a", "/w/config", "/w/.gitignore", "/w/MY_AGENTS.md"]
  ) {
    assertEquals([path, isGuardedPath(path)], [path, false]);
  }
});
