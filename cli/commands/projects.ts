/**
 * `service projects`: folders besides the workspace that the agent may work in.
 *
 * @module
 */

import { resolve } from "@std/path";
import type { Projects } from "../../lib/authority/projects.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { type Command, EXIT, type ExitCode, type Invocation } from "../command.ts";
import { printList } from "../print_list.ts";

/** What the command reaches outside of itself. */
export interface ProjectsDeps {
  projects: Projects;
  cwd: string;
  /** By the configuration. */
  workspace(): Promise<string>;
}

/** Runs the command. */
export async function runProjects(
  { subcommand = "list", args, globals, out }: Invocation,
  { projects, cwd, workspace }: ProjectsDeps,
): Promise<ExitCode> {
  const [typed = "."] = args;
  const { json } = globals;
  if (subcommand === "list") {
    return await printList({ globals, out }, await projects.list(), {
      columns: ["FOLDER", "AGENT"],
      cells: ({ folder, allowed }) => [folder, allowed ? "allowed" : "declined"],
      none: "No projects yet. Allow one with: service projects allow DIR",
    });
  }
  const path = resolve(cwd, typed);
  if (subcommand === "allow") {
    const folder = await realFolder(path);
    await projects.decide(folder, true, await workspace());
    if (json) out.json({ folder, allowed: true });
    else out.line(`Allowed: the agent works in ${folder} when it is started there`);
    return EXIT.done;
  }
  // One that is gone, or a link now, has only the name that was remembered.
  const real = await Deno.realPath(path).catch(() => path);
  const [folder] = [
    ...await projects.forget(real) ? [real] : [],
    ...await projects.forget(path) ? [path] : [],
  ];
  if (folder === undefined) {
    throw new ServiceError("not_found", `Nothing is remembered of "${real}"`, { param: "DIR" });
  }
  if (json) out.json({ folder, forgotten: true });
  else out.line(`Forgotten: ${folder}`);
  return EXIT.done;
}

async function realFolder(path: string): Promise<string> {
  try {
    const real = await Deno.realPath(path);
    if ((await Deno.stat(real)).isDirectory) return real;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  throw new ServiceError("usage", `There is no folder "${path}"`, { param: "DIR" });
}

const projects: Command = {
  description:
    "Allows the agent to work in folders besides the workspace. A conversation started in an allowed " +
    "folder, or below it, works there. The rules treat that folder as the workspace: the agent reads " +
    "and changes its files, runs commands on them in the sandbox, and follows its AGENTS.md. Changes " +
    "apply at once, even to a running gateway.",
  examples: [
    "service projects",
    "service projects allow ~/code/site",
    "service projects forget ~/code/site",
  ],
  options: [],
  defaultSubcommand: "list",
  subcommands: [
    { name: "list", summary: "List the folders that you allowed or declined" },
    { name: "allow", args: "[DIR]", summary: "Let the agent work in DIR (the current folder)" },
    { name: "forget", args: "[DIR]", summary: "Ask again before the agent works in DIR" },
  ],
  async run(invocation) {
    const { configuredWorkspace, openProjects } = await import("../agent/open_folder.ts");
    return await runProjects(invocation, {
      projects: openProjects(invocation.globals, invocation.out),
      cwd: Deno.cwd(),
      workspace: () => configuredWorkspace(invocation.globals),
    });
  },
};

export default projects;
