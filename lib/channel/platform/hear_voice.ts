/**
 * What is said in a voice message.
 *
 * @module
 */

/** What came of it: without text the recording goes to the agent as a file, and words say why. */
export type HeardVoice =
  | { kind: "text"; text: string }
  /** Transcription is not switched on. */
  | { kind: "off" }
  /** It did not work, or there is nothing to be heard. */
  | { kind: "failed"; reason: string };

/** Asks for it. Never rejects. `transcribe`: `BaseChannel.transcribeAudio`. */
export async function hearVoice(
  path: string,
  transcribe: (path: string) => Promise<string>,
): Promise<HeardVoice> {
  try {
    const text = (await transcribe(path)).trim();
    return text === "" ? { kind: "failed", reason: "nothing was said in it" } : {
      kind: "text",
      text,
    };
  } catch (error) {
    if ((error as { code?: unknown } | undefined)?.code === "not_enabled") return { kind: "off" };
    return { kind: "failed", reason: error instanceof Error ? error.message : String(error) };
  }
}
