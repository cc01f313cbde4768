/** A channel over a plain connection to a platform that a test is: lines of JSON both ways. */

import { BaseChannel, type PackageConfig } from "../../../channel/base_channel.ts";
import { UncertainDeliveryError } from "../../../channel/delivery_error.ts";
import type { OutboundMessage } from "../../../contract/outbound_message.ts";

/** What its section holds. */
export interface LineConfig extends PackageConfig {
  port: number;
}

export class LineRuntime extends BaseChannel<LineConfig> {
  #connection: Deno.Conn | undefined;
  /** Deliveries that the platform has not answered. */
  readonly #waiting = new Map<string, () => void>();
  #isStopped = false;

  get isRunning(): boolean {
    return this.#connection !== undefined;
  }

  async start(): Promise<void> {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port: this.config.port });
    this.#connection = connection;
    await this.#say({ hello: this.name });
    let rest = "";
    try {
      for await (const text of connection.readable.pipeThrough(new TextDecoderStream())) {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) this.#take(JSON.parse(line));
      }
    } catch (error) {
      if (!this.#isStopped) throw error;
    } finally {
      this.#connection = undefined;
    }
    if (!this.#isStopped) throw new Error("the platform hung up");
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    try {
      this.#connection?.close();
    } catch {
      // It is closed already.
    }
    return Promise.resolve();
  }

  async send({ id, chatId, content, event }: OutboundMessage): Promise<void> {
    if (event !== undefined) return;
    if (this.#connection === undefined) throw new Error("not connected");
    const got = Promise.withResolvers<void>();
    this.#waiting.set(id, got.resolve);
    try {
      await this.#say({ id, chat: chatId, content });
    } catch {
      throw new UncertainDeliveryError("the connection broke");
    }
    await got.promise;
  }

  #take(
    line: { id?: string; chat: string; text: string; sentAt?: number; got?: string; die?: true },
  ): void {
    if (line.die) return Deno.exit(1);
    if (line.got !== undefined) {
      this.#waiting.get(line.got)?.();
      this.#waiting.delete(line.got);
      return;
    }
    const { id, chat, text, sentAt } = line;
    this.handleMessage({
      senderId: "ann",
      chatId: chat,
      content: text,
      messageId: id,
      ...sentAt !== undefined && { sentAt },
    }).then(
      () => this.#say({ ack: id }),
    ).catch(() => {});
  }

  async #say(line: object): Promise<void> {
    const bytes = new TextEncoder().encode(`${JSON.stringify(line)}\n`);
    for (let at = 0; at < bytes.length;) {
      at += await this.#connection!.write(bytes.subarray(at));
    }
  }
}
