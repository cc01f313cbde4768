/** An IRC server for tests, with the abilities that a test gives it. */

import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "../../../lib/channel/testing/mod.ts";

/** What a server can do and what it refuses. */
export interface FakeServerOptions {
  /** Capabilities, such as `account-tag` or `sasl=PLAIN`. */
  caps?: string[];
  /** Tokens of RPL_ISUPPORT. */
  isupport?: string[];
  takenNicks?: string[];
  sasl?: { account: string; password: string };
  password?: string;
  /** Numerics that answer a JOIN, by channel. */
  refusedJoins?: Record<string, string>;
  /** Keys of channels. */
  keys?: Record<string, string>;
  tls?: { cert: string; key: string };
}

/** A line that the channel has sent to somebody. */
export interface SentLine {
  command: string;
  target: string;
  text: string;
  /** As another client would get it, with its end. */
  bytes: number;
}

const HOST = `host.${"x".repeat(40)}.example`;

export class FakeServer implements ChannelPlatform {
  readonly senders = ["alice!al@home.example", "bob!b@away.example"] as const;
  readonly chatId = "#room";
  readonly section: Record<string, unknown>;
  readonly lines: SentLine[] = [];
  /** Everything that was received. */
  readonly raw: string[] = [];
  /** Accounts by nick, for WHOX and account-tag. */
  readonly accounts: Record<string, string> = {};
  readonly limit = { max: 512, sizeOf: (sent: PlatformSent) => (sent as SentOf).bytes };
  connections = 0;
  /** Does not answer PING any more. */
  isSilent = false;
  nick = "";
  readonly #options: FakeServerOptions;
  readonly #listener: Deno.Listener;
  readonly #refusals: string[] = [];
  #connection: Deno.Conn | undefined;
  #isRegistered = false;
  #isCapOpen = false;
  #user = "";
  #joined = new Set<string>();
  #changed = Promise.withResolvers<void>();
  #isClosed = false;
  #serving: Promise<void>;
  #saslLeft = false;

  constructor(options: FakeServerOptions = {}) {
    this.#options = options;
    const address = { hostname: "127.0.0.1", port: 0 };
    this.#listener = options.tls === undefined
      ? Deno.listen(address)
      : Deno.listenTls({ ...address, ...options.tls });
    this.section = {
      host: "127.0.0.1",
      port: (this.#listener.addr as Deno.NetAddr).port,
      tls: options.tls !== undefined,
      nick: "helper",
      channels: ["#room"],
      respond: "all",
      paceMs: 0,
      maxLines: 500,
    };
    this.#serving = this.#serve();
  }

  /** Resolves as soon as it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
  }

  isIn(channel: string): boolean {
    return this.#joined.has(channel.toLowerCase());
  }

  /** Sends a line to the channel as it is. */
  async say(...lines: string[]): Promise<void> {
    const bytes = new TextEncoder().encode(lines.map((line) => `${line}\r\n`).join(""));
    const connection = this.#connection;
    for (let at = 0; connection !== undefined && at < bytes.length;) {
      at += await connection.write(bytes.subarray(at)).catch(() => bytes.length);
    }
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    await this.until(() => this.isIn("#room"));
    const mask = from === "own" ? `${this.nick}!${this.#user}@${HOST}` : senderId;
    const tags = from === "bot" ? "@bot " : "";
    await this.say(`${tags}:${mask} PRIVMSG #room :${text}`);
    return text;
  }

  sent(): readonly PlatformSent[] {
    return this.lines.map(({ target, text, bytes }) => {
      // Codes of styles are not seen.
      // deno-lint-ignore no-control-regex
      const seen = text.replace(/[\x02\x11\x1D\x1E]/g, "");
      return { chatId: target, text: seen, bytes } as PlatformSent;
    });
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.#refusals.push(kind === "permanent" ? "404" : "263");
  }

  /** Ends the connection that there is. */
  cut(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  async goDown(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listener.close();
    this.cut();
    await this.#serving;
  }

  close(): Promise<void> {
    return this.goDown();
  }

  async #serve(): Promise<void> {
    const open: Promise<void>[] = [];
    for (;;) {
      const connection = await this.#listener.accept().catch(() => undefined);
      if (connection === undefined) {
        if (this.#isClosed) break;
        // A handshake that failed.
        continue;
      }
      open.push(this.#talk(connection));
    }
    await Promise.all(open);
  }

  async #talk(connection: Deno.Conn): Promise<void> {
    this.#connection = connection;
    this.connections += 1;
    this.#isRegistered = this.#isCapOpen = this.#saslLeft = false;
    this.nick = this.#user = "";
    this.#joined = new Set();
    const decoder = new TextDecoder();
    const chunk = new Uint8Array(64 * 1024);
    let rest = "";
    for (;;) {
      const size = await connection.read(chunk).catch(() => null);
      if (size === null) break;
      rest += decoder.decode(chunk.subarray(0, size), { stream: true });
      const lines = rest.split("\r\n");
      rest = lines.pop()!;
      for (const line of lines) {
        this.raw.push(line);
        await this.#take(line);
      }
      this.#wake();
    }
    if (this.#connection === connection) this.cut();
    else {
      try {
        connection.close();
      } catch {
        // It was cut.
      }
    }
    this.#joined = new Set();
    this.#wake();
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  async #take(line: string): Promise<void> {
    const { caps = [], sasl, password, takenNicks = [], refusedJoins = {}, keys = {} } =
      this.#options;
    const [, command = "", rest = ""] = /^(\S+) ?(.*)$/s.exec(line) ?? [];
    const [head = "", trailing] = rest.split(/(?:^| ):(.*)/s, 2);
    const params = [
      ...head.split(" ").filter((one) => one !== ""),
      ...trailing === undefined ? [] : [trailing],
    ];
    const me = this.nick || "*";
    const numeric = (code: string, ...more: string[]) =>
      this.say(`:irc.test ${code} ${me} ${more.join(" ")}`);
    switch (command) {
      case "CAP":
        if (params[0] === "LS") {
          this.#isCapOpen = true;
          await this.say(`:irc.test CAP * LS :${caps.join(" ")}`);
        } else if (params[0] === "REQ") {
          await this.say(`:irc.test CAP * ACK :${params[1]}`);
        } else if (params[0] === "END") {
          this.#isCapOpen = false;
          await this.#register();
        }
        return;
      case "AUTHENTICATE": {
        if (params[0] === "PLAIN") return await this.say("AUTHENTICATE +");
        const given = atob(params[0] ?? "");
        if (given === `${sasl?.account}\0${sasl?.account}\0${sasl?.password}`) {
          await numeric("900", `${me}!u@h`, sasl!.account, ":You are now logged in");
          return await numeric("903", ":SASL authentication successful");
        }
        this.#saslLeft = true;
        return await numeric("904", ":SASL authentication failed");
      }
      case "PASS":
        if (params[0] === password) return;
        return await numeric("464", ":Password incorrect");
      case "NICK": {
        const [nick = ""] = params;
        if (takenNicks.includes(nick)) {
          return await numeric("433", nick, ":Nickname is already in use");
        }
        if (this.#isRegistered) await this.say(`:${this.nick}!${this.#user}@${HOST} NICK :${nick}`);
        this.nick = nick;
        return await this.#register();
      }
      case "USER":
        this.#user = `~${params[0]}`.slice(0, 11);
        return await this.#register();
      case "JOIN": {
        const [name = "", key] = params;
        const refusal = Object.hasOwn(keys, name) && keys[name] !== key
          ? "475"
          : refusedJoins[name];
        if (refusal !== undefined) return await numeric(refusal, name, ":Cannot join channel");
        this.#joined.add(name.toLowerCase());
        return await this.say(`:${this.nick}!${this.#user}@${HOST} JOIN ${name}`);
      }
      case "PING":
        if (!this.isSilent) await this.say(`:irc.test PONG irc.test :${params[0]}`);
        return;
      case "WHO": {
        const [nick = "", fields = ""] = params;
        const token = fields.split(",")[1];
        const account = this.accounts[nick];
        const user = this.senders.find((mask) => mask.startsWith(`${nick}!`));
        if (user !== undefined) {
          const [, ident, host] = /!(.*)@(.*)/.exec(user)!;
          await numeric("354", token!, ident!, host!, nick, account ?? "0");
        }
        return await numeric("315", nick, ":End of WHO list");
      }
      case "PRIVMSG":
      case "NOTICE": {
        const [target = "", text = ""] = params;
        const refusal = this.#refusals.shift();
        if (refusal === "263") return await numeric("263", command, ":Please wait a while");
        if (refusal !== undefined) return await numeric(refusal, target, ":Cannot send to channel");
        const relayed = `:${this.nick}!${this.#user}@${HOST} ${command} ${target} :${text}\r\n`;
        const bytes = new TextEncoder().encode(relayed).length;
        this.lines.push({ command, target, text, bytes });
        return;
      }
      case "QUIT":
        await this.say("ERROR :Closing Link");
        this.cut();
    }
  }

  async #register(): Promise<void> {
    const { isupport = [], sasl } = this.#options;
    if (this.#isRegistered || this.#isCapOpen || this.nick === "" || this.#user === "") return;
    if (sasl !== undefined && this.#saslLeft) return;
    this.#isRegistered = true;
    const to = (code: string, text: string) => `:irc.test ${code} ${this.nick} ${text}`;
    await this.say(
      to("001", ":Welcome"),
      to("005", `CHANTYPES=# CASEMAPPING=rfc1459 ${isupport.join(" ")} :are supported`),
      to("422", ":MOTD File is missing"),
    );
  }
}

interface SentOf extends PlatformSent {
  bytes: number;
}
