/** The other side of the channel for the conformance kit: people of a real server, and a room. */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";
import { MAX_BODY_BYTES, xmlBytes } from "../text/message_parts.ts";
import { bareJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { xml } from "../client/xmpp_library.ts";
import { Person } from "./person.ts";
import { type Prosody, XMPP_DOMAIN } from "./prosody.ts";
import { Relay } from "./relay.ts";
import { sectionOf } from "./test_channel.ts";

export class XmppPlatform implements ChannelPlatform {
  readonly section: Readonly<Record<string, unknown>>;
  readonly senders: readonly [string, string];
  readonly chatId: string;
  readonly limit = {
    max: MAX_BODY_BYTES,
    sizeOf: ({ text }: PlatformSent) => xmlBytes(text),
  };
  readonly hasFences = true;
  readonly #server: Prosody;
  readonly #agent: string;
  readonly #people: Person[];
  readonly #relay: Relay;
  #isAsked = false;

  private constructor(server: Prosody, agent: string, people: Person[], relay: Relay) {
    this.#server = server;
    this.#agent = agent;
    this.#people = people;
    this.#relay = relay;
    this.section = sectionOf(server, agent, { port: relay.port });
    this.senders = [people[0]!.jid, people[1]!.jid];
    this.chatId = this.senders[0];
  }

  static async open(server: Prosody): Promise<XmppPlatform> {
    const agent = server.newUser("agent");
    const people = await Promise.all([
      Person.connect(server, "alice"),
      Person.connect(server, "bob"),
    ]);
    return new XmppPlatform(server, agent, people, new Relay(server.port));
  }

  get #jid(): string {
    return `${this.#agent}@${XMPP_DOMAIN}`;
  }

  /** How often the channel has connected. */
  get connections(): number {
    return this.#relay.connections;
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.#agentIsHere();
    if (from === "person") {
      return await this.#people.find(({ jid }) => jid === senderId)!.say(this.#jid, text);
    }
    const user = from === "own" ? this.#agent : this.#server.newUser("bot");
    const person = await Person.connect(this.#server, user, {
      resource: "other",
      isBot: from === "bot",
    });
    this.#people.push(person);
    return await person.say(this.#jid, text);
  }

  sent(): readonly PlatformSent[] {
    return this.#people.slice(0, 2).flatMap((person) => {
      const files: PlatformSent[] = person.stanzas.flatMap((one) => {
        const url = one.getChild("x", NS.oob)?.getChildText("url");
        if (typeof url !== "string" || bareJid(one.attrs.from ?? "") !== this.#jid) return [];
        const name = decodeURIComponent(new URL(url).pathname.split("/").at(-1)!);
        return [{ chatId: person.jid, text: "", files: [name] }];
      });
      const texts = person.texts(this.#jid).filter((text) => !text.startsWith("https://"));
      return [...texts.map((text) => ({ chatId: person.jid, text })), ...files];
    });
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.#server.refuseNext(
      this.#agent,
      kind === "permanent"
        ? { type: "cancel", condition: "not-allowed" }
        : { type: "wait", condition: "remote-server-timeout" },
    );
  }

  isTyping(): boolean {
    const last = this.#people[0]!.stanzas.findLast((one) =>
      one.name === "message" && bareJid(one.attrs.from ?? "") === this.#jid &&
      one.getChildElements().some((child) => child.getNS() === NS.chatStates)
    );
    return last?.getChild("composing", NS.chatStates) !== undefined;
  }

  async deliverAway({ text, senderId }: PlatformMessage): Promise<string> {
    return await this.#people.find(({ jid }) => jid === senderId)!.say(this.#jid, text);
  }

  revoke(): void {
    this.#server.revoke(this.#agent);
    this.#relay.cut();
  }

  goDown(): Promise<void> {
    return this.#relay.down();
  }

  async close(): Promise<void> {
    await this.#relay.down();
    for (const person of this.#people) await person.close();
  }

  /** The first start begins with what is said from then on. */
  async #agentIsHere(): Promise<void> {
    const [person] = this.#people;
    if (!this.#isAsked) person!.post(xml("presence", { to: this.#jid, type: "subscribe" }));
    this.#isAsked = true;
    await person!.stanza(({ name, attrs }) =>
      name === "presence" && attrs.type === undefined && bareJid(attrs.from ?? "") === this.#jid
    );
  }
}
