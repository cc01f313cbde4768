/** `service uninstall`: the service no longer runs at login or boot. */

import { type Command, EXIT } from "../command.ts";
import { findManager, SYSTEM } from "./install.ts";

const command: Command = {
  description:
    "Stops the service and removes what service install wrote. Leaves the home and the program.",
  examples: ["service uninstall", "sudo service uninstall --system"],
  options: [SYSTEM],
  async run({ options, globals, out }) {
    const [{ homePaths }, { runCommand, uninstallService }, { SYSTEM_STATE_DIR }] = await Promise
      .all([
        import("../home_paths.ts"),
        import("../service_manager/install_service.ts"),
        import("../service_manager/systemd_unit.ts"),
      ]);
    const isSystem = options["system"] === true;
    const paths = homePaths(globals);
    const { file, ...manager } = await findManager(isSystem ? "system" : "user", paths.userHome);
    const removed = await uninstallService({ file, ...manager }, runCommand);
    const home = isSystem ? SYSTEM_STATE_DIR : paths.home;
    if (globals.json) out.json({ file, removed, home });
    else if (!removed) out.note(`Nothing to remove: there is no ${file}`);
    else {
      out.note(`Removed ${file}`);
      out.note(`Kept ${home}, with all conversations, keys and settings`);
    }
    return EXIT.done;
  },
};

export default command;
