/**
 * Slack for tests, on 127.0.0.1: the Web API, Socket Mode and files, as its documents say they are.
 *
 * @module
 */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import { BOT_SCOPES, HTTP_PATH } from "../app_manifest.ts";
import { FakeWire } from "./fake_wire.ts";
import {
  ALICE,
  ALICE_DM,
  BOB,
  BOB_DM,
  BOT_ID,
  BOT_USER,
  type FakeMessage,
  TEAM,
} from "./fake_workspace.ts";
import { freePort } from "../../../tests/support/free_port.ts";

export class FakeSlack extends FakeWire implements ChannelPlatform {
  readonly senders = [ALICE, BOB] as const;
  readonly chatId = ALICE_DM;
  readonly limit = { max: 12_000, sizeOf: ({ text }: PlatformSent) => text.length };
  readonly hasFences = true;

  /** `http`: tells by requests to the port that the section has then, and not over sockets. */
  static open(
    { scopes = BOT_SCOPES, mode = "socket" }: {
      scopes?: readonly string[];
      mode?: "socket" | "http";
    } = {},
  ): Promise<FakeSlack> {
    const fake = new FakeSlack(scopes);
    if (mode === "http") {
      const port = freePort();
      Object.assign(fake.section, { mode, host: "127.0.0.1", port });
      fake.requestUrl = `http://127.0.0.1:${port}${HTTP_PATH}`;
    }
    return Promise.resolve(fake);
  }

  /** Something was written by somebody, and nobody is told. */
  write(channel: string, message: Partial<FakeMessage> & { text: string }): FakeMessage {
    const written: FakeMessage = {
      type: "message",
      ts: this.workspace.nextTs(),
      user: ALICE,
      team: TEAM,
      reactions: new Set(),
      ...message,
    };
    this.workspace.conversation(channel).messages.push(written);
    return written;
  }

  /** Somebody writes, and the app is told. Resolves with the `ts` when it is on its way. */
  async say(
    channel: string,
    message: Partial<FakeMessage> & { text: string },
    { as = ["message"], eventType }: { as?: readonly string[]; eventType?: string } = {},
  ): Promise<string> {
    const written = this.write(channel, message);
    for (const type of as) {
      await this.tell(
        "events_api",
        this.eventOf(channel, written, eventType ?? type),
        written.ts,
      );
    }
    return written.ts;
  }

  /** The body of an event. */
  eventOf(
    channel: string,
    { reactions: _, ...message }: FakeMessage,
    type = "message",
  ): Record<string, unknown> {
    const { kind } = this.workspace.conversation(channel);
    return {
      token: "verification",
      team_id: TEAM,
      api_app_id: "A0APP000001",
      type: "event_callback",
      event_id: `Ev${String(++this.lastId).padStart(8, "0")}`,
      event_time: Math.floor(Number(message.ts)),
      authorizations: [{ team_id: TEAM, user_id: BOT_USER, is_bot: true }],
      event: {
        ...message,
        type,
        channel,
        event_ts: message.ts,
        ...type === "message" && { channel_type: kind },
      },
    };
  }

  /** Somebody clicks on a button of a message. Resolves with the payload that was told. */
  async click(
    { channel, message }: { channel: string; message: FakeMessage },
    actionId: string,
    user: string = ALICE,
    more: { actionTs?: string } = {},
  ): Promise<Record<string, unknown>> {
    const payload = this.clickOf({ channel, message }, actionId, user, more);
    await this.tell("interactive", payload, `click-${user}`);
    return payload;
  }

  /** The payload of a click. */
  clickOf(
    { channel, message }: { channel: string; message: FakeMessage },
    actionId: string,
    user: string = ALICE,
    { actionTs = this.workspace.nextTs() }: { actionTs?: string } = {},
  ): Record<string, unknown> {
    const actions = message.blocks?.find(({ type }) => type === "actions");
    const elements = actions?.elements as Record<string, unknown>[] | undefined;
    const button = elements?.find((one) => one.action_id === actionId);
    const { reactions: _, ...shown } = message;
    return {
      type: "block_actions",
      user: { id: user, username: "somebody", name: "somebody", team_id: TEAM },
      api_app_id: "A0APP000001",
      container: {
        type: "message",
        message_ts: message.ts,
        channel_id: channel,
        is_ephemeral: false,
        ...message.thread_ts !== undefined && { thread_ts: message.thread_ts },
      },
      trigger_id: "1.2.abc",
      team: { id: TEAM, domain: "example" },
      channel: { id: channel, name: "directmessage" },
      message: shown,
      actions: [{ ...button, type: "button", block_id: "b", action_ts: actionTs }],
    };
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    const channel = senderId === BOB ? BOB_DM : ALICE_DM;
    const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
    switch (from) {
      case "person":
        return await this.say(channel, { text: escaped, user: senderId });
      case "own":
        return await this.say(channel, { text: escaped, user: BOT_USER, bot_id: BOT_ID });
      case "bot":
        return await this.say(channel, {
          text: escaped,
          user: undefined,
          subtype: "bot_message",
          bot_id: "B0OTHER0001",
        });
    }
  }

  sent(): readonly PlatformSent[] {
    return this.workspace.ofBot().map(({ channel, message }) => ({
      chatId: message.thread_ts === undefined ? channel : `${channel}:${message.thread_ts}`,
      text: textOfMessage(message),
      files: (message.files ?? []).map(({ name }) => String(name)),
    }));
  }

  /** People see it by the reaction, or by the status of a thread. */
  isTyping(): boolean {
    const { conversations, statuses } = this.workspace;
    return (statuses.at(-1)?.status ?? "") !== "" ||
      [...conversations.values()].some(({ messages }) =>
        messages.some(({ reactions }) => reactions.has("eyes"))
      );
  }

  async pressButton(button: "approve" | "deny", senderId: string): Promise<void> {
    const card = this.workspace.cards.at(-1);
    if (card === undefined) throw new Error("There is no button");
    if (!JSON.stringify(card.message).includes(`"approval_${button}"`)) {
      throw new Error("There is no such button");
    }
    await this.click(card, `approval_${button}`, senderId);
  }

  deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    const channel = senderId === BOB ? BOB_DM : ALICE_DM;
    return Promise.resolve(this.write(channel, { text, user: senderId }).ts);
  }

  refuse(kind: "permanent" | "temporary"): void {
    const error = kind === "permanent" ? "is_archived" : "service_unavailable";
    const answer = () => Response.json({ ok: false, error });
    let isUsed = false;
    for (const method of ["chat.postMessage", "chat.update"]) {
      this.answerNext(method, (call) => {
        if (isUsed) return this.answer(call);
        isUsed = true;
        return answer();
      });
    }
  }
}

/** What a person sees of a message. */
export function textOfMessage({ text, blocks = [] }: FakeMessage): string {
  const shown = blocks.flatMap((block) => {
    const { text, elements = [] } = block as { text?: unknown; elements?: { text?: unknown }[] };
    if (block.type === "markdown") return [String(text)];
    if (block.type === "section") return [String((text as { text: string }).text)];
    return block.type === "context" ? elements.map((one) => String(one.text)) : [];
  });
  return shown.length > 0 ? shown.join("\n") : text;
}
