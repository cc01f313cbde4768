import {
  BaseChannel,
  NotConnectedError,
  type OutboundMessage,
  type PackageConfig,
  PermanentDeliveryError,
  UncertainDeliveryError,
} from "@service/service/channel";
import { readLines } from "./read_lines.ts";

/** The section `channels.line`, with its defaults. */
interface LineConfig extends PackageConfig {
  host: string;
  port: number;
  password: string;
}

/** How long the server may take to say what became of a message, milliseconds. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Messages that are given to the service at the same time; the server waits with more. */
const MAX_HEARING = 16;

/** A chat server that speaks lines: `hear`, `heard`, `say`, `said`, `refused`, `busy`. */
export class LineChannel extends BaseChannel<LineConfig> {
  readonly #stopping = new AbortController();
  readonly #unanswered = new Map<string, PromiseWithResolvers<void>>();
  readonly #hearing = new Set<Promise<void>>();
  #connection: Deno.TcpConn | undefined;
  #run: Promise<void> | undefined;
  #lastNumber = 0;

  override get isRunning(): boolean {
    return this.#connection !== undefined;
  }

  override start(): Promise<void> {
    return this.#run ??= this.#stopping.signal.aborted ? Promise.resolve() : this.#serve();
  }

  override async stop(): Promise<void> {
    this.#stopping.abort();
    close(this.#connection);
    // How it has ended is told by start.
    await this.#run?.catch(() => {});
  }

  override async send({ chatId, content, event }: OutboundMessage): Promise<void> {
    if (this.#connection === undefined) throw new NotConnectedError("the line server is away");
    // Answers, and what waits for a person; a line server shows nothing else.
    if (event !== undefined && event.type !== "approval") return;
    if (content.trim() === "") return;
    if (!/^\S{1,100}$/.test(chatId)) throw new PermanentDeliveryError("There is no such room");
    const number = String(++this.#lastNumber);
    const answer = Promise.withResolvers<void>();
    const cancel = this.host.clock.after(
      ANSWER_TIMEOUT_MS,
      () => answer.reject(new UncertainDeliveryError("The line server has not answered in time")),
    );
    this.#unanswered.set(number, answer);
    try {
      await Promise.all([
        answer.promise,
        this.#write(`say ${number} ${chatId} ${JSON.stringify(content)}`),
      ]);
    } finally {
      cancel();
      this.#unanswered.delete(number);
    }
  }

  async #serve(): Promise<void> {
    const { host: hostname, port, password } = this.config;
    const { signal } = this.#stopping;
    try {
      const connection = await Deno.connect({ hostname, port, signal });
      this.#connection = connection;
      signal.throwIfAborted();
      await this.#write(`login ${password}`);
      this.host.setDetail(`connected to ${hostname}:${port}`);
      for await (const line of readLines(connection.readable)) await this.#read(line);
      if (!signal.aborted) throw new Error("The line server has closed the connection");
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      close(this.#connection);
      this.#connection = undefined;
      for (const { reject } of this.#unanswered.values()) {
        reject(new UncertainDeliveryError("The line was cut"));
      }
      await Promise.all(this.#hearing);
    }
  }

  async #read(line: string): Promise<void> {
    const [word = "", id = "", ...rest] = line.split(" ");
    if (word === "said") this.#unanswered.get(id)?.resolve();
    if (word === "busy") this.#unanswered.get(id)?.reject(new Error("The line server is busy"));
    if (word === "refused") {
      this.#unanswered.get(id)?.reject(new PermanentDeliveryError("The line server refused it"));
    }
    if (word !== "hear") return;
    // Heard one beside the other: answers of the server come between them.
    const hearing = this.#hear(id, rest)
      .catch((error) => this.host.log.warning("A message was not taken", { reason: error.message }))
      .finally(() => this.#hearing.delete(hearing));
    this.#hearing.add(hearing);
    if (this.#hearing.size >= MAX_HEARING) await Promise.race(this.#hearing);
  }

  async #hear(id: string, [senderId = "", chatId = "", ...words]: string[]): Promise<void> {
    // Programs have a star before their names, and `agent` is this one.
    if (!senderId.startsWith("*") && senderId !== "agent") {
      await this.handleMessage({ senderId, chatId, content: words.join(" "), messageId: id });
    }
    // The server keeps a message until then, and gives it again to the next connection.
    await this.#write(`heard ${id}`);
  }

  async #write(line: string): Promise<void> {
    const writer = this.#connection?.writable.getWriter();
    if (writer === undefined) throw new NotConnectedError("the line server is away");
    try {
      await writer.write(new TextEncoder().encode(`${line}\n`));
    } finally {
      writer.releaseLock();
    }
  }
}

function close(connection: Deno.TcpConn | undefined): void {
  try {
    connection?.close();
  } catch {
    // It is closed already.
  }
}
