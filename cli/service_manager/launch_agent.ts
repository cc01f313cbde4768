/**
 * The launchd agent of the service (launchd.plist(5)), for a user of macOS.
 *
 * @module
 */

/** Its name for launchd. */
export const LAUNCH_LABEL = "service.gateway";

/** What an agent is made of. */
export interface LaunchAgentInputs {
  /** Arguments that start this program, its absolute path first. */
  program: readonly string[];
  env: Readonly<Record<string, string>>;
  logFile: string;
  /** How long a stop may take. */
  stopTimeoutS: number;
}

/** Ten seconds are launchd's least pause between two starts, and it knows no growing ones. */
const THROTTLE_S = 10;

/** The text of its file. */
export function launchAgent({ program, env, logFile, stopTimeoutS }: LaunchAgentInputs): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
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
  <integer>${stopTimeoutS}</integer>
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
