/**
 * Says what onboarding did, and what to do next.
 *
 * @module
 */

import type { Output } from "../output.ts";
import type { Onboarded } from "./onboard.ts";
import { seconds } from "./set_up_model.ts";

/** Prints it for people, or as JSON. */
export function printOnboarded(out: Output, done: Onboarded, json: boolean): void {
  if (json) {
    out.json(done);
    return;
  }
  const { configFile, outcome, added, backupFile, model, workspace, workspaceIsNew } = done;
  switch (outcome) {
    case "written":
      out.line(`Wrote ${configFile}`);
      break;
    case "replaced":
      out.line(`Replaced ${configFile}; the old one is ${backupFile}`);
      break;
    case "added":
      out.line(`Kept ${configFile} and added ${inShort(added).join(", ")}`);
      break;
    case "changed":
      out.line(`Updated ${configFile}: ${inShort(added).join(", ")}`);
      break;
    case "kept":
      out.line(`Kept ${configFile}; it has everything`);
  }
  out.line(`Workspace: ${workspace}${workspaceIsNew ? " (new)" : ""}`);
  out.line(`Model: ${model || (done.hasProvider ? "chosen at start" : "offline")}${tested(done)}`);
  if (done.secret !== undefined) out.line(`Key: kept encrypted as the secret ${done.secret}`);
  out.line();
  out.line("Next:");
  out.line("  service agent      chats in the terminal");
  out.line("  service doctor     checks that everything works");
  out.line("  service plugins    lists the channels, such as Telegram and Slack");
  out.line("  service start      runs it in the background");
  if (model === "" && !done.hasProvider) {
    out.line();
    out.line("The offline model only shows how things work. For a real one, get a key of OpenAI,");
    out.line("Anthropic or OpenRouter, or start Ollama, and run service onboard again");
  }
}

function tested({ test }: Onboarded): string {
  if (test === undefined) return "";
  return test.ok ? ` (answered in ${seconds(test.ms)})` : ` (not working yet: ${test.message})`;
}

/** Keys of one section together: a channel has more of them than anybody reads. */
function inShort(keys: readonly string[]): string[] {
  const sections = Map.groupBy(keys, (key) => key.split(".").slice(0, 2).join("."));
  return [...sections].map(([section, of]) =>
    of.length === 1 ? of[0]! : `${of.length} settings of ${section}`
  );
}
