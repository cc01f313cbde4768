/**
 * What is said in audio, by an endpoint that the configuration names (section `transcription`).
 *
 * @module
 */

import { readOwnFile } from "../channel/read_own_file.ts";
import { ServiceError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { askEndpoint, type AskEndpointDeps } from "./ask_endpoint.ts";
import { AUDIO_TYPES, audioType } from "./audio_type.ts";
import { audioTooLarge, readAudioUrl } from "./read_audio_url.ts";

/** Audios that are sent at the same time, and that wait: each is in memory whole. */
const MAX_SENDING = 4;
const MAX_WAITING = 16;

/** What transcribing takes. */
export interface TranscriberDeps extends AskEndpointDeps {
  log: Pick<Log, "warning">;
}

/**
 * Everything rejects with a ServiceError whose message is for whoever asked: `not_enabled` while it is
 * off, `queue_full` when too many wait, `invalid_request`, `unsupported_media_type` and `too_large` for
 * what is no audio that can be sent, and what `askEndpoint` rejects with.
 */
export interface Transcriber {
  /** Of an audio as a base64 data URL. */
  ofDataUrl(dataUrl: string, signal: AbortSignal): Promise<string>;
  /** Of a file in a channel's own folder. */
  ofFile(file: { path: string; folder: string }, signal: AbortSignal): Promise<string>;
}

/** Makes it. */
export function createTranscriber(deps: TranscriberDeps): Transcriber {
  const { config, log } = deps;
  const { maxBytes } = config;
  let sending = 0;
  const waiting: (() => void)[] = [];

  async function inTurn(
    param: string,
    read: () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>,
    signal: AbortSignal,
  ): Promise<string> {
    if (!config.enabled) {
      throw new ServiceError(
        "not_enabled",
        "Transcription is not enabled on this service: transcription.enabled switches it on",
      );
    }
    signal.throwIfAborted();
    await enter(signal);
    try {
      signal.throwIfAborted();
      return await transcribe(param, await read(), signal);
    } finally {
      const next = waiting.shift();
      if (next === undefined) sending -= 1;
      else next();
    }
  }

  async function enter(signal: AbortSignal): Promise<void> {
    if (sending < MAX_SENDING) {
      sending += 1;
      return;
    }
    if (waiting.length >= MAX_WAITING) {
      throw new ServiceError("queue_full", "Too many audios wait to be transcribed", {
        retryAfterS: 5,
      });
    }
    const turn = Promise.withResolvers<void>();
    waiting.push(turn.resolve);
    const leave = () => {
      const at = waiting.indexOf(turn.resolve);
      // Its turn has come already: it is given on by whoever has it.
      if (at < 0) return;
      waiting.splice(at, 1);
      turn.reject(signal.reason);
    };
    signal.addEventListener("abort", leave);
    try {
      await turn.promise;
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  async function transcribe(
    param: string,
    bytes: Uint8Array<ArrayBuffer>,
    signal: AbortSignal,
  ): Promise<string> {
    if (bytes.length === 0) {
      throw new ServiceError("invalid_request", `${param} holds no bytes`, { param });
    }
    if (bytes.length > maxBytes) throw audioTooLarge(param, bytes.length, maxBytes);
    const type = audioType(bytes);
    if (type === undefined) {
      throw new ServiceError(
        "unsupported_media_type",
        `${param} must be ${AUDIO_TYPES}, by its bytes`,
        { param },
      );
    }
    try {
      return await askEndpoint({ bytes, type }, deps, signal);
    } catch (error) {
      if (!signal.aborted) log.warning("An audio was not transcribed", { reason: String(error) });
      throw error;
    }
  }

  return {
    ofDataUrl: (dataUrl, signal) =>
      inTurn("data_url", () => readAudioUrl(dataUrl, maxBytes), signal),
    ofFile: ({ path, folder }, signal) =>
      inTurn("path", () => readOwnFile({ path, folder, maxBytes, param: "path" }), signal),
  };
}
