/**
 * Where files of Slack may lie: the bot token goes to Slack and to nobody else, whatever a message says.
 *
 * @module
 */

/** Whether an address is one of Slack's own, or of the server that the settings name in its place. */
export function isSlackUrl(url: string, apiUrl: URL): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.username !== "" || parsed.password !== "") return false;
  if (parsed.origin === apiUrl.origin) return true;
  return parsed.protocol === "https:" && parsed.port === "" &&
    (parsed.hostname === "slack.com" || parsed.hostname.endsWith(".slack.com"));
}
