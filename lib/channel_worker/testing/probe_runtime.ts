/** A channel that does what a message tells it to: for tests, of what a worker may and what it survives. */

import { BaseChannel } from "../../channel/base_channel.ts";
import type { ChannelHost } from "../../channel/channel_host.ts";
import { Intake } from "../../channel/platform/intake.ts";
import {
  LoginRefusedError,
  PermanentDeliveryError,
  RetryLaterError,
} from "../../channel/delivery_error.ts";
import type { OutboundMessage, StreamDelta } from "../../contract/outbound_message.ts";
import { adoptAll, ATTEMPTS } from "./attempts.ts";

/** How often this module was loaded in this thread. */
let loads = 0;
loads += 1;

export class ProbeRuntime extends BaseChannel {
  readonly #stopped = Promise.withResolvers<void>();
  isRunning = false;

  async start(): Promise<void> {
    this.isRunning = true;
    const { refuse } = this.config as { refuse?: unknown };
    if (refuse !== undefined) throw new LoginRefusedError(String(refuse));
    this.host.setDetail(`connected as @${this.host.name}`);
    await this.#stopped.promise;
    this.isRunning = false;
  }

  stop(): Promise<void> {
    this.#stopped.resolve();
    return Promise.resolve();
  }

  async send({ content, chatId, metadata }: OutboundMessage): Promise<void> {
    const [what = "", ...rest] = content.split(" ");
    const argument = rest.join(" ");
    switch (what) {
      case "say":
        return;
      case "permanent":
        throw new PermanentDeliveryError(argument);
      case "later":
        throw new RetryLaterError("slow down", Number(argument));
      case "refused":
        throw new LoginRefusedError(argument);
      case "fail":
        throw new Error(argument);
      case "loads":
        throw new PermanentDeliveryError(String(loads));
      case "config":
        throw new PermanentDeliveryError(JSON.stringify(this.config));
      case "try": {
        const attempt = ATTEMPTS[argument];
        if (attempt === undefined) throw new Error(`there is no attempt ${argument}`);
        throw new PermanentDeliveryError(await outcome(() => attempt(metadata)));
      }
      case "adopt":
        throw new PermanentDeliveryError(await adoptAll());
      case "print":
        await Deno.stdout.write(new TextEncoder().encode(argument));
        return;
      case "publish": {
        const published = await this.handleMessage({ senderId: "a", chatId, content: argument });
        throw new PermanentDeliveryError(JSON.stringify(published));
      }
      case "flood":
        for (let at = 0; at < Number(argument); at++) {
          void this.handleMessage({ senderId: "a", chatId: `c${at % 100}`, content: `m${at}` });
        }
        return;
      case "hear":
        return await hear(this.host, Number(rest[0]), Number(rest[1]));
      case "transcribe":
        throw new PermanentDeliveryError(await this.transcribeAudio(argument));
      case "log":
        this.host.log.warning(argument, { token: argument });
        // deno-lint-ignore no-console -- what packages do
        console.log("printed", argument);
        return;
      case "listen": {
        const { url } = await this.host.listen(
          { host: "127.0.0.1", port: Number(argument) },
          async (request) => {
            const { pathname, search } = new URL(request.url);
            return new Response(`${request.method} ${pathname}${search} ${await request.text()}`);
          },
        );
        throw new PermanentDeliveryError(url);
      }
      case "chatter":
        for (let at = 0; at < 100_000; at++) this.host.log.info(`line ${at}`);
        return;
      case "exit":
        return Deno.exit(3);
      case "process_exit":
        return void (await import("node:process")).default.exit(3);
      case "close":
        return void self.close();
      case "timer":
        return void setTimeout(() => {
          throw new Error(argument);
        }, 0);
      case "rejection":
        return void Promise.reject(new Error(argument));
      case "busy":
        for (;;);
      case "fill":
        for (const all: unknown[] = [];;) all.push(new Array(1_000_000).fill(all.length));
      case "hang":
        return await new Promise(() => {});
    }
    throw new Error(`there is no ${what}`);
  }

  override sendDelta({ delta }: StreamDelta): Promise<void> {
    return delta === "fail" ? Promise.reject(new Error("fail")) : Promise.resolve();
  }
}

/** Hears so many messages, of a hundred chats and so many a second, and resolves when all were taken. */
async function hear(host: ChannelHost, count: number, perSecond: number): Promise<void> {
  let taken = 0;
  const all = Promise.withResolvers<void>();
  const intake = await Intake.open<string>({
    store: host.intake,
    stateDir: host.stateDir,
    clock: host.clock,
    log: host.log,
    take() {
      if (++taken === count) all.resolve();
      return Promise.resolve();
    },
  });
  intake.start();
  const begunMs = host.clock.elapsed();
  const adding: Promise<void>[] = [];
  for (let at = 0; at < count;) {
    const due = Math.min(count, (host.clock.elapsed() - begunMs) / 1_000 * perSecond);
    for (; at < due; at++) {
      const data = `${at} `.padEnd(700, "x");
      adding.push(intake.add([{ lane: `c${at % 100}`, id: String(at), data }], { at: String(at) }));
    }
    await new Promise((resolve) => host.clock.after(1, () => resolve(undefined)));
  }
  await Promise.all([...adding, all.promise]);
  await intake.close();
}

async function outcome(run: () => unknown): Promise<string> {
  try {
    const came = await run();
    return `allowed: ${String(came).slice(0, 200)}`;
  } catch (error) {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  }
}
