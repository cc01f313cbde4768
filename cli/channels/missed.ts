/**
 * `service channels missed`: messages that came too late to be answered.
 *
 * @module
 */

import { z } from "zod";
import { visibleLine } from "../../lib/base/visible_text.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { whole } from "../../lib/operations/fields.ts";
import { MISSED } from "../../lib/operations/missed.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import { EXIT, type ExitCode, type Invocation } from "../command.ts";
import { type Ask, operateWith } from "../operator/operate_with.ts";
import { typedInput } from "../operator/operation_subcommand.ts";
import type { Output } from "../output.ts";
import { plural } from "../plural.ts";
import { printList } from "../print_list.ts";
import { timeText } from "../time_text.ts";
import type { ChannelsDeps } from "./deps.ts";

type MissedRow = OperationResult<"missed.list">["messages"][number];

/** Messages of one page; every page is printed. */
const PAGE = 200;

/** What is typed for all operations on them. */
export const MISSED_COMMAND = {
  ...MISSED["missed.list"],
  input: z.object({
    name: MISSED["missed.list"].input.shape.name,
    clear: z.boolean().optional().describe("Remove them from the list"),
    answer: whole(1).optional().describe("Answer this one after all"),
  }),
};

/** Lists them, drops them, or has one answered. */
export async function missed(invocation: Invocation, deps: ChannelsDeps): Promise<ExitCode> {
  const { globals, out } = invocation;
  const { name, clear, answer: id } = typedInput(MISSED_COMMAND, invocation);
  if (clear && id !== undefined) {
    throw new ServiceError("usage", "--answer takes no --clear beside it", { param: "answer" });
  }
  return await deps.withRunning(globals, async (client) => {
    const ask = operateWith(client);
    if (clear) {
      const answer = await ask({ op: "missed.clear", name });
      if (globals.json) out.json(answer);
      else out.note(`Dropped ${plural(answer.cleared, "message")}`);
    } else if (id !== undefined) {
      const answer = await ask({ op: "missed.answer", name, id });
      if (globals.json) out.json(answer);
      else if (answer.kind === "turn") out.note(`Message ${id} is being answered in its chat`);
      else out.note(`Message ${id} was a command; its answer goes to its chat`);
    } else {
      const rows = await Array.fromAsync(allMissed(ask, name));
      await printList(invocation, rows, {
        columns: ["MESSAGE", "CHANNEL", "CHAT", "FROM", "WRITTEN", "CAME", "TEXT"],
        cells: (row) => cellsOf(row, out),
        none: "No missed messages",
      });
      if (rows.length > 0 && !globals.json) {
        out.note("These weren't answered. Answer one with: service channels missed --answer N");
      }
    }
    return EXIT.done;
  });
}

async function* allMissed(ask: Ask, name: string | undefined): AsyncGenerator<MissedRow> {
  for (let after = 0;;) {
    const { messages } = await ask({ op: "missed.list", name, after, limit: PAGE });
    yield* messages;
    if (messages.length < PAGE) return;
    after = messages.at(-1)!.id;
  }
}

function cellsOf(row: MissedRow, out: Output): string[] {
  const { id, channel, chat_id, sender_id, sender_name, sent_at, received_at } = row;
  const named = row.files.length === 0 ? "" : ` (files: ${row.files.join(", ")})`;
  return [
    String(id),
    visibleLine(channel),
    visibleLine(chat_id),
    visibleLine(sender_name === undefined ? sender_id : `${sender_name} (${sender_id})`),
    timeText(out, sent_at * 1_000),
    timeText(out, received_at * 1_000),
    visibleLine(`${row.text}${row.truncated ? "…" : ""}${named}`),
  ];
}
