/** `service permissions`: what the service may reach, and who asked for it. */

import type { Command } from "../command.ts";
import { EXIT } from "../command.ts";
import { ownOptions } from "../open_service.ts";

const command: Command = {
  description:
    "Prints every host, path and variable that the service's Worker is given, and which " +
    "part of the configuration asked for it. What is not in the table is denied.",
  examples: ["service permissions", "service permissions --serve --json"],
  options: [{ name: "serve", summary: "As `service serve` would have it: the API, no channels" }],
  async run({ options, globals, out }) {
    const own = ownOptions(globals);
    const [{ loadConfig }, { permissionTable }, { withoutSecrets }] = await Promise.all([
      import("../../lib/config/load.ts"),
      import("../../lib/authority/permission_table.ts"),
      import("../secrets/without_secrets.ts"),
    ]);
    const loaded = await loadConfig({ ...own, keepLastGood: false });
    const api = options.serve === true || loaded.config.api.enabled;
    const table = withoutSecrets(
      permissionTable(loaded, own.paths, {
        api,
        channels: options.serve !== true,
      }),
      own,
    );
    if (globals.json) out.json({ service: table });
    else {
      const width = Math.max(...table.map(({ value }) => value.length));
      for (const { kind, value, askedBy } of table) {
        out.line(`${kind.padEnd(5)}  ${value.padEnd(width)}  ${askedBy}`);
      }
      out.line("run    -      nothing: programs are started by the authority alone");
    }
    return EXIT.done;
  },
};

export default command;
