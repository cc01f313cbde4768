import type { HomePaths } from "../../config/paths.ts";

/** What of a home no channel reads: everything, wherever it lies, but the workspace. */
export function ownFolders(paths: HomePaths): string[] {
  return [
    paths.configFile,
    paths.lastGoodFile,
    paths.dataDir,
    paths.auditDir,
    paths.keysDir,
    paths.operatorDir,
    paths.projectsFile,
    paths.mcpDir,
    paths.runDir,
    paths.socketDir,
  ];
}
