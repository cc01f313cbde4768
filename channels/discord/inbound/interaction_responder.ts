/**
 * Answers commands and clicks at once, as Discord wants it, and says which of them count.
 *
 * @module
 */

import type { PlatformSession } from "../../../lib/channel/platform/mod.ts";
import type { DiscordApi } from "../rest/discord_api.ts";
import type { DiscordConfig } from "../settings.ts";
import { type Words, wordsOf } from "../words.ts";
import type { InboundItem } from "./inbound_item.ts";
import { type Click, type Command, type Interaction, readInteraction } from "./read_interaction.ts";

/** Types of answers: a message, one that comes later, and nothing new. */
const MESSAGE = 4;
const MESSAGE_LATER = 5;
const NOTHING_NEW = 6;

/** Seen by whoever asked alone. */
const EPHEMERAL = 1 << 6;

/** What it works with. */
export interface InteractionResponderDeps {
  api: Pick<DiscordApi, "answerInteraction">;
  session: Pick<PlatformSession<InboundItem>, "click" | "isAllowed" | "words" | "host">;
  /** `slashCommand`: empty where there is none. */
  settings: Pick<DiscordConfig, "slashCommand" | "language">;
}

export class InteractionResponder {
  readonly #deps: InteractionResponderDeps;
  readonly #words: Words;

  constructor(deps: InteractionResponderDeps) {
    this.#deps = deps;
    this.#words = wordsOf(deps.settings.language);
  }

  /** The command that is to be given on; undefined for what is dealt with, or none of ours. */
  answer(said: unknown): Command | undefined {
    const { session, settings } = this.#deps;
    const interaction = readInteraction(said);
    if (interaction === undefined) return undefined;
    if (interaction.kind === "command" && interaction.name !== settings.slashCommand) {
      return undefined;
    }
    const { senderId: id, senderName } = interaction;
    if (!session.isAllowed({ senderId: id, senderName })) {
      return this.#refuse(interaction, this.#words("notAllowed", { id }));
    }
    if (interaction.kind === "click") return void this.#click(interaction);
    if (interaction.content.trim() === "") return this.#refuse(interaction, this.#words("empty"));
    this.#say(interaction, { type: MESSAGE_LATER });
    return interaction;
  }

  async #click(click: Click): Promise<void> {
    const { session } = this.#deps;
    const { approve: isApproved, ref, chatId, ...more } = click;
    const metadata = { channel_id: chatId };
    const outcome = await session.click({ ...more, isApproved, clickId: ref.id, chatId, metadata });
    if (outcome === "taken") this.#say(click, { type: NOTHING_NEW });
    else this.#refuse(click, session.words(outcome));
  }

  #refuse(interaction: Interaction, content: string): undefined {
    const data = { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
    this.#say(interaction, { type: MESSAGE, data });
  }

  #say({ ref }: Interaction, body: unknown): void {
    const { api, session: { host: { log } } } = this.#deps;
    // One that is told again after a pause has its answer, or nobody waits for it any more.
    api.answerInteraction(ref, body).catch((error) =>
      log.info("An interaction could not be answered", {
        reason: error instanceof Error ? error.message.slice(0, 200) : "unknown",
      })
    );
  }
}
