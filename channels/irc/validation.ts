/**
 * Looks at the settings of IRC, and asks the server whether it is one.
 *
 * @module
 */

import type { SetupContext, SetupFinding } from "../../lib/channel/descriptor.ts";
import { readCaCerts } from "../../lib/channel/platform/read_ca_certs.ts";
import { error, isLoopback, warning } from "../../lib/channel/setup/findings.ts";
import { connectToServer } from "./connection/irc_transport.ts";

/** How long the server has for a word, milliseconds. */
const PROBE_MS = 8_000;

type Values = Readonly<Record<string, unknown>>;

/** Nobody on the network sees anything of it: the probe logs nobody in. */
export async function validate(
  values: Values,
  { signal }: SetupContext,
): Promise<SetupFinding[]> {
  const findings = [...checkChannels(values), ...checkLogin(values)];
  const host = text(values.host);
  if (values.tls === false && !isLoopback(host)) {
    findings.push(
      warning("tls", "The connection is not encrypted: passwords and messages are read on the way"),
    );
  }
  return [...findings, ...await probe(host, values, signal)];
}

function checkChannels({ channels, channelKeys }: Values): SetupFinding[] {
  const names = Array.isArray(channels) ? channels : [];
  const pairs = text(channelKeys).split(/[,\n]/).map((pair) => pair.trim()).filter((pair) => pair);
  if (pairs.some((pair) => pair.split(/\s+/).length !== 2)) {
    return [error("channelKeys", "channelKeys is wrong: expected #room key, #other key")];
  }
  const unknown = pairs.map((pair) => pair.split(/\s+/)[0]!).find((name) => !names.includes(name));
  return unknown === undefined
    ? []
    : [warning("channelKeys", `channelKeys has ${unknown}, which is not one of channels`)];
}

function checkLogin({ account, accountPassword, matchNick }: Values): SetupFinding[] {
  const findings: SetupFinding[] = [];
  if (text(account) !== "" && text(accountPassword) === "") {
    findings.push(error("accountPassword", "accountPassword is not set, and account is"));
  }
  if (matchNick === true) {
    findings.push(
      warning("matchNick", "Anybody can take a nick of allowFrom while its owner is away"),
    );
  }
  return findings;
}

/** Any answer to a question that every server knows is that of a server. */
async function probe(host: string, values: Values, signal: AbortSignal): Promise<SetupFinding[]> {
  const { tls } = values;
  const port = Number(values.port);
  const late = AbortSignal.any([signal, AbortSignal.timeout(PROBE_MS)]);
  const caCerts = await readCaCerts(text(values.caFile)).catch(() => []);
  const address = { host, port, tls: tls !== false, caCerts };
  let connection: Deno.Conn;
  try {
    connection = await connectToServer(address, late);
  } catch (reason) {
    const said = late.aborted ? "no answer in time" : (reason as Error).message;
    return [warning("host", `${host}:${port} cannot be reached now: ${said.slice(0, 200)}`)];
  }
  const close = () => connection.close();
  late.addEventListener("abort", close, { once: true });
  try {
    await connection.write(new TextEncoder().encode("CAP LS 302\r\nQUIT\r\n"));
    const chunk = new Uint8Array(1_024);
    const size = await connection.read(chunk);
    const said = new TextDecoder().decode(chunk.subarray(0, size ?? 0));
    if (/^(@\S+ )?(:\S+ )?(CAP|NOTICE|ERROR|PING|\d{3}) /m.test(said)) return [];
    return [warning("host", `${host}:${port} does not answer as an IRC server`)];
  } catch {
    return [warning("host", `${host}:${port} does not answer as an IRC server`)];
  } finally {
    late.removeEventListener("abort", close);
    if (!late.aborted) connection.close();
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
