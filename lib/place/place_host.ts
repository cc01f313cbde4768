/**
 * The host of a channel in a place: what it asks goes over the port (`ChannelHost`).
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import { fromErrorData, ServiceError } from "../base/errors.ts";
import type { ChannelHost } from "../channel/channel_host.ts";
import type { InboundMessage, Published } from "../contract/inbound_message.ts";
import { checkInbound } from "../channel/check_inbound.ts";
import type { PlaceLog } from "./place_log.ts";
import { type FromPlace, MAX_TRANSCRIBING, type PlaceBoot, type ToPlace } from "./protocol.ts";
import { PublishQueue } from "./publish_queue.ts";
import { isInside } from "../base/state_dir.ts";

/** Audio files that may wait to be transcribed; further ones are refused. */
const MAX_WAITING_AUDIO = 64;

const MAX_PATH_CHARS = 4_096;

/** A host, and where answers to what it asked are handed in. */
export interface PlaceHost {
  host: ChannelHost;
  answered(answer: Exclude<ToPlace, { type: "call" }>): void;
}

/** What a host is made of. */
export interface PlaceHostDeps {
  boot: Pick<PlaceBoot, "runtimeName" | "stateDir">;
  say: (message: FromPlace) => void;
  setDetail: (detail: string) => void;
  setNote: (note: string) => void;
  log: PlaceLog;
  clock: Clock;
}

/** See the module. */
export function createPlaceHost(deps: PlaceHostDeps): PlaceHost {
  const { boot, say, log, clock } = deps;
  const waiting = new Map<number, (result: unknown) => void>();
  const queue = new PublishQueue();
  const audio: (() => void)[] = [];
  let transcribing = 0;
  let lastId = 0;

  function ask<T>(message: (id: number) => FromPlace): Promise<T> {
    const id = ++lastId;
    return new Promise<T>((resolve, reject) => {
      waiting.set(id, (result) => {
        if (typeof result === "object" && result !== null && "error" in result) {
          reject(fromErrorData(result.error as Parameters<typeof fromErrorData>[0]));
        } else resolve(result as T);
      });
      say(message(id));
    });
  }

  async function transcribe(path: string): Promise<string> {
    if (
      typeof path !== "string" || path.length > MAX_PATH_CHARS || !isInside(boot.stateDir, path)
    ) {
      throw new ServiceError(
        "invalid_request",
        `Cannot transcribe ${
          JSON.stringify(String(path).slice(0, 80))
        }: expected a file in ${boot.stateDir}`,
        { param: "path" },
      );
    }
    if (transcribing === MAX_TRANSCRIBING) {
      if (audio.length === MAX_WAITING_AUDIO) {
        throw new ServiceError("queue_full", "Too many audio files wait to be transcribed");
      }
      await new Promise<void>((go) => audio.push(go));
    } else transcribing += 1;
    try {
      return await ask<string>((id) => ({ type: "transcribe", id, path }));
    } finally {
      // Whoever waited takes the place over.
      const next = audio.shift();
      if (next === undefined) transcribing -= 1;
      else next();
    }
  }

  return {
    host: {
      name: boot.runtimeName,
      stateDir: boot.stateDir,
      async publish(message: InboundMessage): Promise<Published> {
        const checked = checkInbound(message, boot);
        return await queue.run(
          { chat: checked.sessionKey ?? checked.chatId, chars: checked.content.length },
          () => ask<Published>((id) => ({ type: "publish", id, message: checked })),
        );
      },
      transcribe,
      setDetail: deps.setDetail,
      setNote: deps.setNote,
      async listen(address, handler) {
        // Few channels serve, and none of the others has to load what that takes.
        const { placeListen } = await import("./place_listen.ts");
        return await placeListen(address, handler, { runtimeName: boot.runtimeName, log });
      },
      log,
      clock,
    },
    answered({ id, result }) {
      const settle = waiting.get(id);
      waiting.delete(id);
      settle?.(result);
    },
  };
}
