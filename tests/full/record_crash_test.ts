import { assert, assertEquals } from "@std/assert";
import { openAudit } from "../../lib/audit/log.ts";
import { verifyAudit } from "../../lib/audit/verify.ts";
import { lockedFlags } from "../../lib/packages/locked_packages.ts";

const SCRIPT = new URL("../support/dying_gate.ts", import.meta.url).pathname;

/** Runs the gate that dies and gives the folder that it left. */
async function dieAt(moment: "before" | "after"): Promise<string> {
  const { stdout, stderr, signal } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "-q", "--cached-only", ...lockedFlags(), SCRIPT, moment],
  }).output();
  assertEquals(signal, "SIGKILL", new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).trim();
}

for (const [moment, didRun] of [["before", false], ["after", true]] as const) {
  Deno.test(
    `kill -9 ${
      didRun
        ? "between an action and the record after it"
        : "between the record before and an action"
    }: the chain holds and says what is unknown`,
    async () => {
      const root = await dieAt(moment);
      try {
        const made = `${root}/home/workspace/made.txt`;
        assertEquals(await Deno.stat(made).then(() => true, () => false), didRun);
        const dir = `${root}/home/audit`;
        const before = await verifyAudit({ dir });
        assert(before.ok, JSON.stringify(before));
        assertEquals(before.unknown.length, 1);
        const { data, crashed } = before.unknown[0]!;
        assertEquals([data.tool, data.capability, crashed], ["write_file", "fs.write", false]);
        assertEquals((data.target as { real: string }).real, made);

        // The next start knows that nobody can end it any more; it neither runs it nor makes an end up.
        const silent = () => {};
        const audit = await openAudit({
          dir,
          keysDir: `${root}/home/keys`,
          log: { debug: silent, info: silent, warning: silent, error: silent },
        });
        await audit.append("action.refused", { tool: "read_file" });
        await audit.close();
        const after = await verifyAudit({ dir });
        assert(after.ok, JSON.stringify(after));
        assertEquals(after.unknown.map(({ seq, crashed }) => [seq, crashed]), [
          [before.unknown[0]!.seq, true],
        ]);
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  );
}
