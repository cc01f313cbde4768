/**
 * Answers commands and clicks at once, as Discord wants it, and says which of them count.
 *
 * @module
 */

import type { Log } from "../../../lib/base/log.ts";
import type { Approvals } from "../outbound/approvals.ts";
import type { DiscordApi } from "../rest/discord_api.ts";
import type { Words } from "../words.ts";
import { type Interaction, readInteraction } from "./read_interaction.ts";

/** Types of answers: a message, one that comes later, and nothing new. */
const MESSAGE = 4;
const MESSAGE_LATER = 5;
const NOTHING_NEW = 6;

/** Seen by whoever asked alone. */
const EPHEMERAL = 1 << 6;

/** What it works with. */
export interface InteractionResponderDeps {
  api: Pick<DiscordApi, "answerInteraction">;
  approvals: Pick<Approvals, "refuse">;
  words: Words;
  /** Empty: there is none. */
  slashCommand: string;
  isAllowed: (senderId: string) => boolean;
  log: Pick<Log, "info">;
}

export class InteractionResponder {
  readonly #deps: InteractionResponderDeps;

  constructor(deps: InteractionResponderDeps) {
    this.#deps = deps;
  }

  /** The interaction that is to be given on; undefined for one that is answered, or none of ours. */
  answer(said: unknown): Interaction | undefined {
    const { words, isAllowed, slashCommand, approvals } = this.#deps;
    const interaction = readInteraction(said);
    if (interaction === undefined) return undefined;
    if (interaction.kind === "command" && interaction.name !== slashCommand) return undefined;
    if (!isAllowed(interaction.senderId)) {
      return this.#refuse(interaction, words("notAllowed", { id: interaction.senderId }));
    }
    if (interaction.kind === "command") {
      if (interaction.content.trim() === "") return this.#refuse(interaction, words("empty"));
      this.#say(interaction, { type: MESSAGE_LATER });
      return interaction;
    }
    const refusal = approvals.refuse(interaction);
    if (refusal !== undefined) return this.#refuse(interaction, refusal);
    this.#say(interaction, { type: NOTHING_NEW });
    return interaction;
  }

  #refuse(interaction: Interaction, content: string): undefined {
    const data = { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
    this.#say(interaction, { type: MESSAGE, data });
  }

  #say({ ref }: Interaction, body: unknown): void {
    // One that is told again after a pause has its answer, or nobody waits for it any more.
    this.#deps.api.answerInteraction(ref, body).catch((error) =>
      this.#deps.log.info("An interaction could not be answered", {
        reason: error instanceof Error ? error.message.slice(0, 200) : "unknown",
      })
    );
  }
}
