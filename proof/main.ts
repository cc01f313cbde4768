// deno-lint-ignore-file no-console -- a program whose output is what it is for
/**
 * Shows on your own machine that a claim holds: each proof is one command, prints a table, and fails when a
 * line of it doesn't hold.
 *
 *     deno task proof                       lists them
 *     deno task proof crash --rounds 50     one of them
 *
 * @module
 */

import { parseArgs } from "@std/cli/parse-args";
import { proveCrash } from "./crash.ts";
import { proveOverload } from "./overload.ts";
import type { Line, Proof } from "./proof.ts";
import { proveSoak } from "./soak.ts";
import { suite, SUITES } from "./suites.ts";

const PROOFS: Readonly<Record<string, Proof>> = {
  crash: {
    claim: "kill -9 at any moment loses and doubles nothing that was accepted",
    rounds: 20,
    run: proveCrash,
  },
  overload: {
    claim: "what is too much is refused at once and clearly, and nothing else suffers for long",
    rounds: 3,
    run: proveOverload,
  },
  soak: {
    claim: "hours of use leave memory, handles and the growth of files as they were",
    rounds: 20,
    least: 6,
    run: proveSoak,
  },
  ...Object.fromEntries(Object.keys(SUITES).map((name) => [name, suite(name)])),
};

function printLines(lines: readonly Line[]): void {
  const width = Math.max(...lines.map(({ what }) => what.length));
  for (const { what, value, holds } of lines) {
    const verdict = holds === undefined ? "" : holds ? "holds" : "BROKEN";
    console.log(`  ${what.padEnd(width)}  ${value.padStart(10)}  ${verdict}`);
  }
}

if (import.meta.main) {
  const flags = parseArgs(Deno.args, { string: ["rounds"], boolean: ["json"] });
  const [name = ""] = flags._.map(String);
  const proof = Object.hasOwn(PROOFS, name) ? PROOFS[name] : undefined;
  if (proof === undefined) {
    if (name !== "") console.error(`There is no proof "${name}".\n`);
    for (const [name, { claim }] of Object.entries(PROOFS)) {
      console.log(`  deno task proof ${name.padEnd(9)}  ${claim}`);
    }
    Deno.exit(name === "" ? 0 : 2);
  }
  const rounds = Number(flags.rounds ?? proof.rounds);
  const { least = 1 } = proof;
  if (!Number.isInteger(rounds) || rounds < least) {
    console.error(
      `--rounds is ${JSON.stringify(flags.rounds)}: expected a whole number from ${least}`,
    );
    Deno.exit(2);
  }
  const tell = (text: string) => void (flags.json || console.error(text));
  const lines = await proof.run({ rounds, tell });
  const holds = lines.every((line) => line.holds !== false);
  if (flags.json) console.log(JSON.stringify({ proof: name, claim: proof.claim, holds, lines }));
  else {
    console.log(`\n${proof.claim}\n`);
    printLines(lines);
    console.log(holds ? "\nIt holds." : "\nIt does NOT hold.");
  }
  Deno.exit(holds ? 0 : 1);
}
