/**
 * Looks at the settings of a webhook, and asks its URL whether somebody is there.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { error, isLocalHost, isLoopback, warning } from "../../lib/channel/setup/findings.ts";
import { readSecrets, secretProblem } from "./protocol/signature.ts";

/** How long the URL has for an answer, milliseconds. */
const PROBE_MS = 5_000;

/** Nothing is sent that its receiver could take for a message. */
export async function validate(
  values: Readonly<Record<string, unknown>>,
  { allowLocalServiceAccess, signal }: SetupContext,
): Promise<SetupFinding[]> {
  const findings: SetupFinding[] = [
    ...checkSecret("secret", values.secret),
    ...checkSecret("previousSecret", values.previousSecret),
    ...checkPath(values.path),
    ...checkHost(values.host),
  ];
  const text = typeof values.url === "string" ? values.url.trim() : "";
  if (text === "") return findings;
  const checked = checkUrl(text, values, allowLocalServiceAccess);
  findings.push(...checked);
  if (checked.some(({ level }) => level === "error")) return findings;
  return [...findings, ...await probe(text, signal)];
}

function checkSecret(field: string, value: unknown): SetupFinding[] {
  const problem = readSecrets(value).map(secretProblem).find((one) => one !== undefined);
  return problem === undefined ? [] : [error(field, `${field} is wrong: ${problem}`)];
}

function checkPath(path: unknown): SetupFinding[] {
  if (typeof path !== "string" || URL.parse(path, "http://x")?.pathname === path) return [];
  return [error("path", `path is ${JSON.stringify(path)}: expected a path such as /webhook`)];
}

function checkHost(host: unknown): SetupFinding[] {
  if (typeof host !== "string" || host === "" || isLoopback(host)) return [];
  return [warning(
    "host",
    "Messages are signed and not encrypted: put a proxy with TLS in front of this address",
  )];
}

function checkUrl(
  text: string,
  { host, port }: Readonly<Record<string, unknown>>,
  allowLocal: boolean,
): SetupFinding[] {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    return [error("url", "url is wrong: expected http://… or https://…")];
  }
  if (url.username !== "" || url.password !== "") {
    return [error("url", "url holds a name or a password: receivers check the signature instead")];
  }
  const local = isLocalHost(url.hostname);
  const ownPort = Number(url.port || (url.protocol === "https:" ? 443 : 80));
  if (ownPort === Number(port) && (url.hostname === host || isThisMachine(url.hostname))) {
    return [error("url", "url leads back to this channel: set it to where answers belong")];
  }
  if (local && !allowLocal) {
    return [
      error(
        "url",
        "url names this machine or its network, and channels.allowLocalServiceAccess is off",
      ),
    ];
  }
  if (url.protocol === "http:" && !isThisMachine(url.hostname)) {
    return [warning("url", "url is not encrypted: whoever is on the way reads the answers")];
  }
  return [];
}

/** Any answer is that of somebody. */
async function probe(url: string, signal: AbortSignal): Promise<SetupFinding[]> {
  try {
    const { status, body } = await fetch(url, {
      method: "HEAD",
      redirect: "manual",
      signal: AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]),
    });
    await body?.cancel();
    if (status >= 300 && status < 400) {
      return [warning("url", `url answers with a redirect (${status}), which is not followed`)];
    }
    if (status !== 404 && status !== 410) return [];
    return [warning("url", `url answers ${status}: nothing seems to be there`)];
  } catch {
    return [warning("url", "url cannot be reached now: answers are tried again until it can")];
  }
}

/** Also the address that means every address of this machine. */
function isThisMachine(host: string): boolean {
  return isLoopback(host) || /^(0\.0\.0\.0|\[?::\]?)$/.test(host);
}
