/**
 * A process that rehearses an automation in the state of a home, says the finding's digest, and waits to
 * be killed; for tests.
 *
 * @module
 */

import { Commissions } from "../../approvals/commission/commissions.ts";
import { openOperatorState } from "../operator_state.ts";

const [dir, keysDir] = Deno.args as [string, string];
const { findings, grants } = await openOperatorState({ dir, keysDir });
const audit = { append: () => Promise.resolve({} as never) };
const commissions = new Commissions({ audit, findings, grants });
const digest = "d".repeat(64);
const { id } = await commissions.begin({ automationId: "aut_a", digest, by: "token:tok_1" });
for (const name of ["a", "b"]) {
  commissions.note(id, {
    tool: "read_file",
    capability: "fs.read",
    target: `/w/${name}`,
    effect: "grant",
    rule: "unattended",
    reason: "",
  });
}
const finding = await commissions.finish({ id, outcome: "done" });
Deno.stdout.writeSync(new TextEncoder().encode(`${finding!.digest}\n`));
setInterval(() => {}, 60_000);
