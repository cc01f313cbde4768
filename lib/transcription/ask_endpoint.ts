/**
 * One question to a transcription endpoint: POST /audio/transcriptions as OpenAI describes it.
 *
 * @module
 */

import type { Clock } from "../base/clock.ts";
import type { TranscriptionConfig } from "../config/schema.ts";
import { ServiceError } from "../base/errors.ts";
import { readBody } from "../model/body_reader.ts";
import { messageOf, shownMessage } from "../model/provider_message.ts";
import { readRetryAfterS } from "../model/retry_after.ts";
import type { AudioType } from "./audio_type.ts";
import { transcriptionEndpoint } from "./endpoint.ts";

/** Bytes of an answer: what is said in hours of audio is far less. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

/** What asking takes. */
export interface AskEndpointDeps {
  config: TranscriptionConfig;
  fetch: typeof fetch;
  clock: Clock;
}

/** An audio of a type that endpoints take. */
export interface Audio {
  bytes: Uint8Array<ArrayBuffer>;
  type: AudioType;
}

/**
 * What is said in an audio; empty where nothing is. Rejects with `provider_unreachable` when no answer came
 * (in time), `provider_rate_limited`, `provider_error` for any other answer than a transcription, and
 * with the signal's reason after an abort.
 */
export async function askEndpoint(
  audio: Audio,
  { config, fetch, clock }: AskEndpointDeps,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const { timeoutS } = config;
  const ending = new AbortController();
  const forward = () => ending.abort(signal.reason);
  signal.addEventListener("abort", forward);
  const cancelTimer = clock.after(timeoutS * 1_000, () =>
    ending.abort(
      new ServiceError("provider_unreachable", `${nameOf(config)} did not answer in ${timeoutS} s`),
    ));
  try {
    const response = await post(audio, { config, fetch }, ending.signal);
    const body = await readAnswer(response, config, ending.signal);
    return read(response, body, { config, clock });
  } catch (error) {
    // Whatever broke, it broke because of this.
    if (ending.signal.aborted) throw ending.signal.reason;
    throw error;
  } finally {
    cancelTimer();
    signal.removeEventListener("abort", forward);
  }
}

async function post(
  { bytes, type }: Audio,
  { config, fetch }: Omit<AskEndpointDeps, "clock">,
  signal: AbortSignal,
): Promise<Response> {
  const { model, language, apiKey } = config;
  const form = new FormData();
  form.set("file", new File([bytes], `audio.${type.extension}`, { type: type.mediaType }));
  form.set("model", model);
  form.set("response_format", "json");
  if (language !== "") form.set("language", language);
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
  const answered = fetch(transcriptionEndpoint(config).url, {
    method: "POST",
    headers: apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` },
    body: form,
    // A redirect would carry the key to wherever it points.
    redirect: "manual",
    signal,
  });
  try {
    // A fetch that does not heed its signal is not waited for.
    return await Promise.race([answered, aborted.promise]);
  } catch (error) {
    answered.then(({ body }) => body?.cancel(), () => {});
    if (signal.aborted) throw signal.reason;
    throw unreachable(error, config);
  }
}

/** The body as text. Throws `provider_error` for one that is too long or breaks off. */
async function readAnswer(
  { body }: Response,
  config: TranscriptionConfig,
  signal: AbortSignal,
): Promise<string> {
  if (body === null) return "";
  const reader = readBody(body, signal);
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read().catch((error) => {
      throw nonsense(config, "its answer broke off", { cause: error });
    });
    if (done) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_ANSWER_BYTES) {
      await reader.cancel().catch(() => {});
      throw nonsense(config, `its answer is longer than ${MAX_ANSWER_BYTES} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function read(
  { ok, status, headers }: Response,
  body: string,
  { config, clock }: Pick<AskEndpointDeps, "config" | "clock">,
): string {
  if (ok) {
    try {
      const { text } = JSON.parse(body);
      if (typeof text === "string") return text.trim();
    } catch {
      // Said below.
    }
    throw nonsense(config, "its answer is no transcription");
  }
  const name = nameOf(config);
  if (status >= 300 && status < 400) {
    throw new ServiceError(
      "provider_error",
      `${name} redirects, which is not followed; set transcription.baseUrl to the final address`,
      { providerStatus: status },
    );
  }
  const said = shownMessage(messageOf(body), [config.apiKey]);
  const message = `${name} answers with status ${status}${said === "" ? "" : `: ${said}`}`;
  const details = { providerStatus: status };
  if (status !== 429) throw new ServiceError("provider_error", message, details);
  const retryAfterS = readRetryAfterS(Object.fromEntries(headers), clock.now());
  throw new ServiceError("provider_rate_limited", message, {
    ...details,
    ...retryAfterS !== undefined && { retryAfterS },
  });
}

function nonsense(
  config: TranscriptionConfig,
  what: string,
  options?: ErrorOptions,
): ServiceError {
  return new ServiceError(
    "provider_error",
    `${nameOf(config)} cannot be used: ${what}`,
    {},
    options,
  );
}

/** The error's own text is not shown: it holds the whole URL. */
function unreachable(error: unknown, config: TranscriptionConfig): ServiceError {
  const text = `${error} ${error instanceof Error ? error.cause : ""}`;
  const why = error instanceof Deno.errors.NotCapable
    ? "the service was started without permission for this host; restart it"
    : /refused/i.test(text)
    ? "connection refused"
    : /dns|lookup|resolve|name or service/i.test(text)
    ? "its name cannot be resolved"
    : /certificate|tls|handshake/i.test(text)
    ? "no TLS connection can be made"
    : "the connection failed";
  return new ServiceError(
    "provider_unreachable",
    `${nameOf(config)} cannot be reached: ${why}; check transcription.baseUrl`,
    {},
    { cause: error },
  );
}

function nameOf(config: TranscriptionConfig): string {
  const { host, port } = transcriptionEndpoint(config);
  return `The transcription service at ${host.includes(":") ? `[${host}]` : host}:${port}`;
}
