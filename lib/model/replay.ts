/**
 * What a provider wants back with an answer of its own: signatures of reasoning, encrypted
 * reasoning, signatures of calls. It travels in `replay` of the assistant message, through the
 * journal, and is only ever given back to the model that gave it.
 *
 * @module
 */

import type { JSONObject, SharedV4ProviderMetadata } from "@ai-sdk/provider";

/** Data of a provider's package, by the package's name. */
export type ProviderData = Record<string, JSONObject>;

/** As it stands in `replay`. */
export interface Replay {
  /** `<provider>/<id>` that it came from. */
  model: string;
  /** Stretches of reasoning that carry data, in their order. */
  reasoning: { text: string; data: ProviderData }[];
  /** Data of calls, by callId. */
  calls: Record<string, ProviderData>;
}

/** The replay in a message if this model gave it; undefined for any other value. */
export function readReplay(value: unknown, model: string): Replay | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const replay = value as Replay;
  return replay.model === model && Array.isArray(replay.reasoning) ? replay : undefined;
}

/** Gathers it while an answer streams in. */
export class ReplayCollector {
  readonly #model: string;
  readonly #reasoning = new Map<string, { text: string; data?: ProviderData }>();
  readonly #calls: Record<string, ProviderData> = {};

  constructor(model: string) {
    this.#model = model;
  }

  /** A piece of the reasoning block of that id; its data comes with any of its pieces. */
  reasoning(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const block = this.#reasoning.get(id) ?? { text: "" };
    block.text += text;
    const data = given(metadata);
    if (data !== undefined) block.data = { ...block.data, ...data };
    this.#reasoning.set(id, block);
  }

  /** A call that is complete. */
  call(callId: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const data = given(metadata);
    if (data !== undefined) this.#calls[callId] = data;
  }

  /** What has to come back; undefined for nothing. */
  finish(): Replay | undefined {
    const reasoning = [...this.#reasoning.values()].flatMap(({ text, data }) =>
      data === undefined ? [] : [{ text, data }]
    );
    if (reasoning.length === 0 && Object.keys(this.#calls).length === 0) return undefined;
    return { model: this.#model, reasoning, calls: this.#calls };
  }
}

function given(metadata: SharedV4ProviderMetadata | undefined): ProviderData | undefined {
  const entries = Object.entries(metadata ?? {}).filter(([, value]) =>
    value !== undefined && Object.keys(value).length > 0
  );
  return entries.length === 0 ? undefined : Object.fromEntries(entries) as ProviderData;
}
