/**
 * `service version`.
 *
 * @module
 */

import { type Command, EXIT } from "../command.ts";
import { VERSION } from "../version.ts";
import { printParagraph } from "../print_paragraph.ts";

const version: Command = {
  description: "Prints the version of this program and of its runtime.",
  examples: ["service version", "service version --json"],
  options: [],
  async run({ out, globals }) {
    const { MIGRATIONS } = await import("../../lib/journal/migrations/migrations.ts");
    const facts = {
      version: VERSION,
      databaseVersion: MIGRATIONS.at(-1)!.version,
      deno: Deno.version.deno,
      v8: Deno.version.v8,
      typescript: Deno.version.typescript,
      platform: Deno.build.target,
      compiled: Deno.build.standalone,
    };
    if (globals.json) {
      out.json(facts);
    } else {
      out.line(`service ${facts.version}`);
      const runtime = `${facts.deno}, v8 ${facts.v8}, typescript ${facts.typescript}`;
      printParagraph(out, { text: "deno " }, runtime);
      out.line(facts.platform + (facts.compiled ? ", compiled" : ""));
    }
    return EXIT.done;
  },
};

export default version;
