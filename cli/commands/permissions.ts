/** `service permissions`: what each process of the service may reach, and who asked for it. */

import type { Command } from "../command.ts";
import { EXIT } from "../command.ts";
import type { Permission } from "../../lib/base/permission.ts";
import { ownOptions } from "../open_service.ts";
import { printParagraph } from "../print_paragraph.ts";

const command: Command = {
  description:
    "Prints what each process of the service can access, and which setting asks for it: " +
    "the launcher, the gateway, and each enabled channel. Everything else is denied.",
  examples: ["service permissions", "service permissions --serve --json"],
  options: [{ name: "serve", summary: "As service serve would have them: the API, no channels" }],
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
    if (globals.json) {
      const { permissionToWire } = await import("../../lib/operations/permissions.ts");
      out.json({
        permissions: service.map(permissionToWire),
        channels: channels.map(permissionToWire),
      });
    } else {
      const width = Math.max(...[...service, ...channels].map(({ value }) => value.length));
      const print = (process: string, table: readonly Permission[]) => {
        printParagraph(out, { text: "" }, process);
        for (const { kind, value, askedBy } of table) {
          const head = `  ${kind.padEnd(5)}  `;
          const fits = head.length + width + askedBy.length < (out.columns ?? Infinity);
          const text = fits ? `${value.padEnd(width)}  ${askedBy}` : `${value} (${askedBy})`;
          printParagraph(out, { text: head }, text, { indent: fits ? 2 : 9 });
        }
      };
      print("launcher: starts the others, decides on actions and records them", []);
      out.line("  net    none");
      print("gateway: starts no program", service);
      for (const [name, table] of Map.groupBy(channels, ({ askedBy }) => askedBy)) {
        print(`${name.replace(/^channels\./, "channel ")}: starts no program`, table);
      }
    }
    return EXIT.done;
  },
};

export default command;
