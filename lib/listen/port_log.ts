import type { Log } from "../base/log.ts";
import type { PortChange } from "./bounded_port.ts";

/** Tells an operator that a port is full, and when it is not any more. `setting`: section of the configuration. */
export function portLog(
  log: Pick<Log, "info" | "warning">,
  setting: string,
): (change: PortChange) => void {
  return (change) => {
    switch (change.kind) {
      case "full":
        return log.warning("A port has as many connections as it may, and refuses others", {
          setting,
          maxConnections: change.maxConnections,
        });
      case "blocked":
        return log.warning("A port cannot be listened on again yet", {
          setting,
          reason: change.reason,
        });
      case "open":
        return log.info("A port takes connections again", { setting, closedMs: change.closedMs });
    }
  };
}
