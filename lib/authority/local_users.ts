/**
 * Whether a connection over loopback comes from a program of the service's own user, or of one that
 * `gates.trustedUids` lists.
 *
 * Linux tells who owns each socket in /proc/net/tcp and tcp6 (proc_net(5)). grep reads them: Deno opens
 * nothing below /proc without every permission. The service asks once a connection, and one reading
 * answers all that wait, so that a flood costs no more than one grep at a time.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import type { Log } from "../base/log.ts";
import { findProgram } from "../executor/sandbox.ts";

/** An end of a connection: an IPv4 or IPv6 address as sockets tell it, IPv6 without brackets. */
export interface SocketEnd {
  address: string;
  port: number;
}

/** A connection, seen from the service. */
export interface LocalConnection {
  remote: SocketEnd;
  local: SocketEnd;
}

/**
 * Whether a connection counts as the service's user; `uid` where the system tells whose it is. `reason`
 * goes on a sentence that begins with the connection.
 */
export type LocalUser = { isTrusted: true } | { isTrusted: false; uid?: number; reason: string };

/** What telling needs of the machine. */
export interface LocalUsersDeps {
  /** `gates.trustedUids`. */
  trusted: readonly (number | "*")[];
  os: typeof Deno.build.os;
  /** The service's own uid. */
  uid: number | null;
  log: Pick<Log, "warning">;
  /** Lines of the system's tables of sockets that hold one of the texts. Rejects with the reason. */
  readSockets(texts: readonly string[]): Promise<string>;
}

/** Tells whose connections are. */
export interface LocalUsers {
  userOf(connection: LocalConnection): Promise<LocalUser>;
}

/** What one reading answers at most; further ones wait for the next. */
const MAX_PER_READING = 128;

const ANYBODY =
  "A connection over loopback was let in without a secret: this system does not tell which user of the " +
  "machine it belongs to. Set api.apiKey and channels.websocket.tokenIssueSecret if it has several";

/** A user namespace shows all users that it does not know as this one (user_namespaces(7)). */
const OVERFLOW_UID = 65_534;

/**
 * ESTABLISHED, FIN_WAIT1 and FIN_WAIT2: the client has the connection. One that only tries to connect from
 * the same port, or has gone, is somebody else.
 */
const CONNECTED = new Set(["01", "04", "05"]);

/** Makes it. Only Linux is asked: elsewhere all users of the machine count as the service's. */
export function createLocalUsers(
  { trusted, os, uid, log, readSockets }: LocalUsersDeps,
): LocalUsers {
  const trustsAll = trusted.includes("*");
  let hasWarned = false;
  const isTrusted = (owner: number) =>
    (owner === uid && owner !== OVERFLOW_UID) || trusted.includes(owner);
  const waiting: { texts: string[]; answer: PromiseWithResolvers<number | undefined> }[] = [];
  let isReading = false;

  /** The uid of the client's end, if the system knows it. */
  function ownerOf(texts: string[]): Promise<number | undefined> {
    const answer = Promise.withResolvers<number | undefined>();
    waiting.push({ texts, answer });
    if (!isReading) void read();
    return answer.promise;
  }

  async function read(): Promise<void> {
    isReading = true;
    while (waiting.length > 0) {
      const asked = waiting.splice(0, MAX_PER_READING);
      try {
        const owners = ownersOf(await readSockets(asked.flatMap(({ texts }) => texts)));
        for (const { texts, answer } of asked) {
          answer.resolve(texts.map((text) => owners.get(text)).find((each) => each !== undefined));
        }
      } catch (error) {
        for (const { answer } of asked) answer.reject(error);
      }
    }
    isReading = false;
  }

  return {
    async userOf(connection) {
      if (trustsAll) return { isTrusted: true };
      if (os !== "linux") {
        if (!hasWarned) log.warning(`${ANYBODY} (${os})`);
        hasWarned = true;
        return { isTrusted: true };
      }
      try {
        const texts = rowTexts(connection);
        // The kernel may skip a row while others come and go, so that once is not enough.
        const owner = await ownerOf(texts) ?? await ownerOf(texts);
        if (owner === undefined) return unknown("the system lists no program that has it open");
        if (isTrusted(owner)) return { isTrusted: true };
        return { isTrusted: false, uid: owner, reason: `belongs to uid ${owner}` };
      } catch (error) {
        return unknown(error instanceof Error ? error.message : String(error));
      }
    },
  };
}

function unknown(reason: string): LocalUser {
  return { isTrusted: false, reason: `cannot be traced to its user: ${reason}` };
}

/** The users of this machine. */
export function openLocalUsers({ trusted, log }: Pick<LocalUsersDeps, "trusted" | "log">) {
  return createLocalUsers({ trusted, log, os: Deno.build.os, uid: Deno.uid(), readSockets });
}

/** For a machine that has so many sockets that reading them takes for ever. */
const READ_TIMEOUT_MS = 10_000;

async function readSockets(texts: readonly string[]): Promise<string> {
  const grep = await findProgram("grep");
  if (grep === undefined) throw new Error("there is no grep to read /proc/net/tcp with");
  const { code, stdout, stderr } = await new Deno.Command(grep, {
    args: ["-hF", ...texts.flatMap((text) => ["-e", text]), "/proc/net/tcp", "/proc/net/tcp6"],
    clearEnv: true,
    stdin: "null",
    signal: AbortSignal.timeout(READ_TIMEOUT_MS),
  }).output();
  const found = new TextDecoder().decode(stdout);
  // Where IPv6 is off there is no second file, and grep says so.
  if (code <= 1 || found !== "") return found;
  throw new Error(
    new TextDecoder().decode(stderr).trim().slice(0, 300) || `grep ended with ${code}`,
  );
}

/** What the row of the client's end holds: it may have a socket of IPv6 for an address of IPv4. */
function rowTexts({ remote, local }: LocalConnection): string[] {
  const from = ipaddr.process(remote.address);
  const to = ipaddr.process(local.address);
  const row = (client: Address, server: Address) =>
    ` ${hexOf(client, remote.port)} ${hexOf(server, local.port)} `;
  if (from instanceof ipaddr.IPv6 || to instanceof ipaddr.IPv6) return [row(from, to)];
  return [row(from, to), row(from.toIPv4MappedAddress(), to.toIPv4MappedAddress())];
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** Each 32-bit word as a number of the machine, which is little-endian wherever Deno runs. */
function hexOf(address: Address, port: number): string {
  const bytes = Uint8Array.from(address.toByteArray());
  for (let at = 0; at < bytes.length; at += 4) bytes.subarray(at, at + 4).reverse();
  const portText = port.toString(16).padStart(4, "0");
  return `${bytes.toHex()}:${portText}`.toUpperCase();
}

/** One row of a table: ends, state, uid and inode. */
const ROW =
  /^ *\d+: ([0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4}) ([0-9A-F]{2}) \S+ \S+ \S+ +(\d+) +\d+ +(\d+) /gm;

/** The uids by what the rows hold. A socket that nobody has open any more has no inode, and shows root. */
function ownersOf(rows: string): Map<string, number> {
  const owners = new Map<string, number>();
  for (const [, ends, state, uid, inode] of rows.matchAll(ROW)) {
    if (CONNECTED.has(state!) && inode !== "0") owners.set(` ${ends} `, Number(uid));
  }
  return owners;
}
