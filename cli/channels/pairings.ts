/**
 * `service channels pairings`, `pair` and `dismiss`: strangers who were given a code, and whether they may
 * write.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import { PAIRINGS } from "../../lib/operations/pairings.ts";
import { type AskDeps, askSubcommand, listSubcommand } from "../operator/ask_subcommand.ts";
import type { Subcommand } from "../operator/ask_subcommand.ts";

/** The subcommands. */
export const PAIRING_COMMANDS: readonly Subcommand<AskDeps>[] = [
  listSubcommand("pairings.list", PAIRINGS["pairings.list"], {
    rows: ({ pairings }) => pairings,
    columns: ["CODE", "CHANNEL", "SENDER", "EXPIRES", "NAME"],
    cells: (row, time) => [
      row.code,
      row.runtime_name,
      visibleLine(row.sender_id),
      time(row.expires_at),
      visibleLine(row.sender_name ?? ""),
    ],
    none: "Nobody waits with a code",
  }),
  askSubcommand("pairings.pair", PAIRINGS["pairings.pair"], {
    say({ runtime_name: name, sender_id: id, sender_name: called }, out) {
      const who = nameOf({ id, called });
      out.note(`${who} may write to ${name} now. A running service applies that by itself`);
    },
  }),
  askSubcommand("pairings.dismiss", PAIRINGS["pairings.dismiss"], {
    say({ runtime_name: name, sender_id: id, sender_name: called }, out) {
      out.note(`Dismissed: the code of ${nameOf({ id, called })} lets nobody write to ${name}`);
    },
  }),
];

function nameOf({ id, called }: { id: string; called?: string }): string {
  return called === undefined ? visibleLine(id) : `${visibleLine(called)} (${visibleLine(id)})`;
}
