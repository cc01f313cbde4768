/** `service permissions`: what the service and its channels may reach, and who asked for it. */

import type { Command } from "../command.ts";
import { EXIT } from "../command.ts";
import { ownOptions } from "../open_service.ts";

const command: Command = {
  description:
    "Prints every host, path and variable that the service's Worker is given, then what the " +
    "Worker of each channel that is switched on is given, and which part of the configuration " +
    "asked for it. What is not in a table is denied.",
  examples: ["service permissions", "service permissions --serve --json"],
  options: [{ name: "serve", summary: "As `service serve` would have it: the API, no channels" }],
  async run({ options, globals, out }) {
    const own = ownOptions(globals);
    const [
      { loadConfig },
      { permissionTable },
      { channelPermissionTable },
      { openRegistry },
      { CHANNELS },
      { withoutSecrets },
    ] = await Promise.all([
      import("../../lib/settings/load.ts"),
      import("../../lib/authority/permission_table.ts"),
      import("../../lib/operations/channels/channel_permission_table.ts"),
      import("../../lib/registry/open_registry.ts"),
      import("../../channels/mod.ts"),
      import("../secrets/without_secrets.ts"),
    ]);
    const loaded = await loadConfig({ ...own, keepLastGood: false });
    const runsChannels = options.serve !== true;
    const { service, channels } = withoutSecrets({
      service: permissionTable(loaded, own.paths, {
        api: options.serve === true || loaded.config.api.enabled,
        channels: runsChannels,
      }),
      channels: runsChannels
        ? channelPermissionTable({
          registry: await openRegistry(CHANNELS),
          config: loaded.config,
          dataDir: own.paths.dataDir,
        })
        : [],
    }, own);
    if (globals.json) out.json({ service, channels });
    else {
      const table = [...service, ...channels];
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
