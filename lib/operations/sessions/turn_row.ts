import type { z } from "zod";
import { modelsOnWire, usageOnWire } from "../../contract/wire/usage_on_wire.ts";
import type { Journal, StoredMessage, Turn } from "../../contract/journal.ts";
import { errorFrame } from "../../listen/error_frame.ts";
import { inSeconds } from "../fields.ts";
import type { turnRow } from "./session_schemas.ts";

/** The turns of messages, in their order. */
export function turnsOf(
  messages: readonly StoredMessage[],
  journal: Pick<Journal, "turn">,
): z.input<typeof turnRow>[] {
  const ids = new Set(messages.map(({ turnId }) => turnId).filter((id) => id !== ""));
  return [...ids].map((id) => journal.turn(id)).filter((turn) => turn !== undefined).map(toRow);
}

function toRow(
  { id, status, error, usage, models, acceptedAt, startedAt, endedAt }: Turn,
): z.input<typeof turnRow> {
  return {
    turn_id: id,
    status,
    ...error !== undefined && { detail: errorFrame(error, {}, { ofTurn: true }).detail },
    ...usage !== undefined && { usage: usageOnWire(usage) },
    ...usage !== undefined && models !== undefined && { models: modelsOnWire(models, usage) },
    accepted_at: inSeconds(acceptedAt),
    ...startedAt !== undefined && endedAt !== undefined &&
      { took_ms: Math.max(0, endedAt - startedAt) },
  };
}
