/**
 * The folder of a conversation that is started now, asked about at this process's terminal.
 *
 * @module
 */

import { Projects } from "../../lib/authority/projects.ts";
import type { Globals } from "../command.ts";
import { homePaths } from "../home_paths.ts";
import type { Output } from "../output.ts";
import { chooseFolder } from "./choose_folder.ts";

/** See {@linkcode chooseFolder}; `asks` where somebody sits at the terminal. */
export async function openFolder(
  globals: Globals,
  { dir, asks, out }: { dir?: string; asks: boolean; out: Output },
): Promise<string | undefined> {
  const paths = homePaths(globals);
  return await chooseFolder({
    projects: openProjects(globals, out),
    paths,
    cwd: Deno.cwd(),
    dir,
    workspace: () => configuredWorkspace(globals),
    confirm: asks ? (folder) => confirmFolder(folder, out) : undefined,
    note: (text) => out.note({ text, style: "dim" }),
  });
}

async function confirmFolder(folder: string, out: Output): Promise<boolean> {
  const [{ confirm, processConfirm }, { wrapText }] = await Promise.all([
    import("../confirm.ts"),
    import("../wrap_text.ts"),
  ]);
  const text = `The agent can work in ${folder}. It then reads and changes all files there, runs ` +
    "commands on them in the sandbox, and follows the folder's AGENTS.md. Otherwise it works in " +
    "its workspace.";
  for (const line of wrapText(text, Math.max(20, out.columns ?? 80))) out.note(line);
  return await confirm("Work in this folder?", processConfirm(out));
}

/** The remembered decisions; a folder that is allowed is on record. */
export function openProjects(globals: Globals, out: Output): Projects {
  const paths = homePaths(globals);
  return new Projects(paths, async (folder) => {
    const { installedDefinition, isReadOnly } = await import(
      "../service_manager/installed_definition.ts"
    );
    const installed = await installedDefinition(paths);
    if (installed !== undefined && isReadOnly(installed, folder)) {
      out.note(
        `The service that runs at login can't write there yet. Let it with: service install`,
      );
    }
    const { changeState, operatorDeps } = await import("../operator/with_state.ts");
    await changeState(
      operatorDeps(globals),
      out,
      (state) => state.note("project.allowed", { by: "cli", folder }),
    );
  });
}

/** As `agent.workspace` says. */
export async function configuredWorkspace(globals: Globals): Promise<string> {
  const { loadConfig } = await import("../../lib/settings/load.ts");
  const env = (name: string) => Deno.env.get(name);
  const { config } = await loadConfig({
    paths: homePaths(globals),
    env,
    lastGood: globals.lastGood,
    keepLastGood: false,
  });
  return config.agent.workspace;
}
