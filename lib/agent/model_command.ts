/**
 * `/model`: which model answers in this conversation. It changes no other conversation, and nothing of
 * the configuration.
 *
 * @module
 */

import type { ChatCommand, CommandPorts } from "./chat_command.ts";
import type { SessionModel } from "./session_model.ts";

/** What goes back to the configured model; a preset of this name is out of reach here. */
const DEFAULT = "default";

/** Presets that are named in an answer. */
const MAX_SHOWN = 50;

/** Longest name that is repeated in an answer. */
const MAX_ECHO_CHARS = 80;

/** The entry of the table. */
export const MODEL_COMMAND: ChatCommand = {
  name: "model",
  args: "[PRESET | default]",
  summary: "Show or choose the model of this conversation",
  rule: "chat",
  async run({ sessionKey, rest }, ports) {
    const { journal, presets, modelOf } = ports;
    const chosen = journal.session(sessionKey)?.modelPreset;
    if (rest === "") {
      const used = modelOf(chosen);
      return [`Model: ${describeModel(used)}.`, ...noticeOf(used), whatThereIs(ports)].join("\n");
    }
    if (rest !== DEFAULT && !presets().includes(rest)) {
      const asked = JSON.stringify(rest.slice(0, MAX_ECHO_CHARS));
      return `There is no model preset ${asked}. ${whatThereIs(ports)}`;
    }
    const preset = rest === DEFAULT ? undefined : rest;
    // No session is made to say what holds without one.
    if (preset !== chosen) await journal.setModelPreset(sessionKey, preset);
    const used = modelOf(preset);
    return [`Model from the next turn on: ${describeModel(used)}.`, ...noticeOf(used)].join("\n");
  },
};

/** A model with where it comes from. */
export function describeModel({ model, preset }: SessionModel): string {
  return `${model.name} (${preset === undefined ? "default" : `preset ${preset}`})`;
}

function noticeOf({ notice }: SessionModel): string[] {
  return notice === undefined ? [] : [notice];
}

function whatThereIs({ presets }: CommandPorts): string {
  const names = presets();
  if (names.length === 0) return "No presets are configured (agent.presets).";
  const more = names.length > MAX_SHOWN ? ` and ${names.length - MAX_SHOWN} more` : "";
  return `Presets: ${names.slice(0, MAX_SHOWN).join(", ")}${more}; /model ${DEFAULT} goes back.`;
}
