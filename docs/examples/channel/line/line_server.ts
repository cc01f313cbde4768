import type {
  ChannelPlatform,
  PlatformMessage,
  PlatformSent,
} from "@service/service/channel/testing";
import { readLines } from "./read_lines.ts";

const PASSWORD = "correct horse";

/** The other side: a line server for one client, on a port of its own. */
export class LineServer implements ChannelPlatform {
  readonly section: Readonly<Record<string, unknown>>;
  readonly senders = ["alice", "bob"] as const;
  readonly chatId = "lobby";
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly #sent: PlatformSent[] = [];
  readonly #heard: string[] = [];
  readonly #serving: Promise<void>;
  #client = Promise.withResolvers<Deno.TcpConn>();
  #isConnected = false;
  #refusal: string | undefined;
  #lastId = 0;
  #last = "";

  constructor() {
    this.section = { port: this.#listener.addr.port, password: PASSWORD };
    this.#serving = this.#serve();
  }

  /** Whether a client is logged in. */
  get isConnected(): boolean {
    return this.#isConnected;
  }

  async deliver({ text, senderId, from }: PlatformMessage): Promise<string> {
    const sender = { person: senderId, bot: "*weather", own: "agent" }[from];
    const id = String(++this.#lastId);
    this.#last = `hear ${id} ${sender} ${this.chatId} ${text}`;
    await this.redeliver();
    return id;
  }

  async redeliver(): Promise<void> {
    await write(await this.#client.promise, this.#last);
  }

  sent(): readonly PlatformSent[] {
    return this.#sent;
  }

  acknowledged(): readonly string[] {
    return this.#heard;
  }

  refuse(kind: "permanent" | "temporary"): void {
    this.#refusal = kind === "permanent" ? "refused" : "busy";
  }

  async goDown(): Promise<void> {
    this.#listener.close();
    this.#client.promise.then((client) => client.close(), () => {});
    this.#client.reject(new Error("The line server is down"));
    await this.#serving;
  }

  async close(): Promise<void> {
    await this.goDown().catch(() => {});
  }

  async #serve(): Promise<void> {
    this.#client.promise.catch(() => {});
    for await (const connection of this.#listener) {
      await this.#talk(connection).catch(() => {});
      this.#isConnected = false;
      this.#client = Promise.withResolvers();
    }
  }

  async #talk(connection: Deno.TcpConn): Promise<void> {
    for await (const line of readLines(connection.readable)) {
      const [word, id = "", room = "", ...text] = line.split(" ");
      if (word === "login") {
        if (line !== `login ${PASSWORD}`) return connection.close();
        this.#isConnected = true;
        this.#client.resolve(connection);
      }
      if (word === "heard") this.#heard.push(id);
      if (word !== "say") continue;
      const answer = this.#refusal ?? "said";
      this.#refusal = undefined;
      if (answer === "said") this.#sent.push({ chatId: room, text: JSON.parse(text.join(" ")) });
      await write(connection, `${answer} ${id}`);
    }
  }
}

async function write(connection: Deno.TcpConn, line: string): Promise<void> {
  const writer = connection.writable.getWriter();
  await writer.write(new TextEncoder().encode(`${line}\n`));
  writer.releaseLock();
}
