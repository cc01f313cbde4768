import type { Log } from "../../lib/base/log.ts";
import type { Output } from "../output.ts";

/**
 * A log whose lines are remarks for whoever sits at the terminal: what a channel says while it logs in is
 * for him, such as a code to scan.
 */
export function noteLog(out: Output): Log {
  const say = (prefix: string) => (message: string, fields: object = {}) => {
    const { channel: _, ...rest } = fields as Record<string, unknown>;
    const more = Object.entries(rest).map(([key, value]) =>
      ` ${key}=${typeof value === "string" ? value : JSON.stringify(value)}`
    );
    out.note(`${prefix}${message}${more.join("")}`);
  };
  return { debug: say(""), info: say(""), warning: say("warning: "), error: say("error: ") };
}
