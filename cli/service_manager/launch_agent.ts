/**
 * The launchd agent of the service (launchd.plist(5)), for a user of macOS.
 *
 * @module
 */

import { LAUNCHD_LABEL, LOG_FILE } from "../lifecycle/record.ts";
import { type Definition, MARK, stopTimeoutS } from "./definition.ts";

/** Its name for launchd. */
export const LAUNCH_LABEL = "service.gateway";

/** Ten seconds are launchd's least pause between two starts, and it knows no growing ones. */
const THROTTLE_S = 10;

/** The text of its file. */
export function launchAgent(definition: Definition): string {
  const { program, logFile } = definition;
  const env = { ...definition.env, [LOG_FILE]: logFile, [LAUNCHD_LABEL]: LAUNCH_LABEL };
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LAUNCH_LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${[...program, "gateway"].map((each) => `    <string>${escaped(each)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${
    Object.entries(env).map(([name, value]) =>
      `    <key>${escaped(name)}</key>\n    <string>${escaped(value)}</string>`
    ).join("\n")
  }
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>${THROTTLE_S}</integer>
  <key>ExitTimeOut</key>
  <integer>${stopTimeoutS(definition)}</integer>
  <key>Umask</key>
  <integer>${0o077}</integer>
  <key>StandardErrorPath</key>
  <string>${escaped(logFile)}</string>
</dict>
</plist>
`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
