/** Somebody on that server, with a program of their own. */

import { systemClock } from "../../../lib/base/clock.ts";
import { bareJid } from "../client/jid.ts";
import { NS } from "../client/namespaces.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import { XmppSession } from "../client/xmpp_session.ts";
import { type Prosody, XMPP_DOMAIN, XMPP_PASSWORD } from "./prosody.ts";

/** How somebody connects. */
export interface PersonOptions {
  resource?: string;
  /** Their program says that it is a bot. */
  isBot?: boolean;
  /** Answers nobody and is shown to nobody. */
  isHidden?: boolean;
}

/** After so long something that a test waits for does not come any more. */
const PATIENCE_MS = 60_000;

export class Person {
  readonly user: string;
  /** Every message and presence that has come. */
  readonly stanzas: XmlElement[] = [];
  #session!: XmppSession;
  #changed = Promise.withResolvers<void>();

  private constructor(user: string) {
    this.user = user;
  }

  static async connect(
    server: Prosody,
    user: string,
    { resource = "home", isBot = false, isHidden = false }: PersonOptions = {},
  ): Promise<Person> {
    const person = new Person(user);
    const info = (question: XmlElement) =>
      xml(
        "query",
        { xmlns: NS.discoInfo, node: question.attrs.node },
        xml("identity", { category: "client", type: isBot ? "bot" : "pc", name: "Test" }),
        xml("feature", { var: NS.discoInfo }),
      );
    person.#session = await XmppSession.open({
      address: {
        host: "127.0.0.1",
        port: server.tlsPort,
        domain: XMPP_DOMAIN,
        tls: "direct",
        caCerts: [Deno.readTextFileSync(server.caFile)],
      },
      login: { local: user, domain: XMPP_DOMAIN, password: XMPP_PASSWORD, resource },
      clock: systemClock,
      onStanza: (stanza) => void person.#take(stanza),
      info,
    }, new AbortController().signal);
    if (!isHidden) person.post(xml("presence"));
    return person;
  }

  get jid(): string {
    return `${this.user}@${XMPP_DOMAIN}`;
  }

  get session(): XmppSession {
    return this.#session;
  }

  post(stanza: XmlElement): void {
    this.#session.post(stanza);
  }

  /** Writes to somebody; resolves with the id when the server has it. */
  async say(to: string, text: string, ...more: (XmlElement | undefined)[]): Promise<string> {
    const id = crypto.randomUUID();
    const body = xml("body", {}, text);
    await this.#session.deliver(xml("message", { to, type: "chat", id }, body, ...more));
    return id;
  }

  /** Writes in a room. */
  async sayIn(room: string, text: string, ...more: (XmlElement | undefined)[]): Promise<string> {
    const id = crypto.randomUUID();
    const body = xml("body", {}, text);
    await this.#session.deliver(xml("message", { to: room, type: "groupchat", id }, body, ...more));
    return id;
  }

  /** Goes into a room, and makes it where it is not there: `settings` are fields of its form. */
  async join(
    room: string,
    { nick = this.user, password, ...settings }: Record<string, string | undefined> = {},
  ): Promise<void> {
    const key = password === undefined ? undefined : xml("password", {}, password);
    this.post(xml(
      "presence",
      { to: `${room}/${nick}` },
      xml("x", { xmlns: NS.muc }, xml("history", { maxstanzas: "0" }), key),
    ));
    const own = await this.stanza((one) =>
      one.name === "presence" && one.attrs.from === `${room}/${nick}` && hasStatus(one, "110")
    );
    if (hasStatus(own, "201")) await this.configure(room, settings);
  }

  /** Changes a room. */
  async configure(room: string, settings: Record<string, string | undefined> = {}): Promise<void> {
    const fields = Object.entries({
      "FORM_TYPE": "http://jabber.org/protocol/muc#roomconfig",
      ...settings,
    });
    await this.#session.request(
      "set",
      room,
      xml(
        "query",
        { xmlns: "http://jabber.org/protocol/muc#owner" },
        xml(
          "x",
          { xmlns: NS.form, type: "submit" },
          ...fields.map(([name, value]) =>
            xml("field", { var: name }, xml("value", {}, value ?? ""))
          ),
        ),
      ),
    );
  }

  /** Changes what somebody is in a room: `{ nick, role }` or `{ jid, affiliation }`. */
  async admin(room: string, item: Record<string, string>, reason?: string): Promise<void> {
    const why = reason === undefined ? undefined : xml("reason", {}, reason);
    await this.#session.request(
      "set",
      room,
      xml(
        "query",
        { xmlns: "http://jabber.org/protocol/muc#admin" },
        xml("item", item, why),
      ),
    );
  }

  async destroy(room: string): Promise<void> {
    const query = xml(
      "query",
      { xmlns: "http://jabber.org/protocol/muc#owner" },
      xml("destroy", {}, xml("reason", {}, "over")),
    );
    await this.#session.request("set", room, query);
  }

  /** Resolves with the first that matches, also one that has come before. */
  async stanza(matches: (stanza: XmlElement) => boolean): Promise<XmlElement> {
    for (;;) {
      const found = this.stanzas.find(matches);
      if (found !== undefined) return found;
      if (this.#session.isOver) throw new Error("The connection is closed");
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new Error(this.#words())), PATIENCE_MS);
      });
      await Promise.race([this.#changed.promise, late]).finally(() => clearTimeout(timer));
    }
  }

  /** Resolves with the message in which a text stands. */
  message(text: string): Promise<XmlElement> {
    return this.stanza((one) =>
      one.name === "message" && (one.getChildText("body") ?? "").includes(text)
    );
  }

  /** Texts that have come from somebody, or from a nick in a room; one that was corrected has its last. */
  texts(from: string): string[] {
    const texts = new Map<string, string>();
    for (const one of this.stanzas) {
      const { attrs } = one;
      const isFrom = attrs.from === from || bareJid(attrs.from ?? "") === from;
      const body = one.getChildText("body");
      if (one.name !== "message" || !isFrom || body === null || attrs.type === "error") continue;
      texts.set(one.getChild("replace", NS.replace)?.attrs.id ?? attrs.id ?? "", body);
    }
    return [...texts.values()];
  }

  async close(): Promise<void> {
    await this.#session.close();
  }

  #words(): string {
    return `Nothing has come to ${this.jid} but ${this.stanzas.slice(-5).map(String).join("\n")}`;
  }

  #take(stanza: XmlElement): void {
    this.stanzas.push(stanza);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }
}

function hasStatus(presence: XmlElement, code: string): boolean {
  return presence.getChild("x", NS.mucUser)?.getChildren("status")
    .some(({ attrs }) => attrs.code === code) ?? false;
}
