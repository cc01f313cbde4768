/**
 * Which hosts a sandboxed program reaches: judged for each connection, first by name and then by the
 * addresses of that moment, and on record once a host.
 *
 * What asks is a program of the model's choosing: a name that is not allowed is never looked up, since a
 * look-up alone carries the name to whoever it belongs to.
 *
 * @module
 */

import { type HostPattern, meansHost, parseHostPattern } from "../../base/host_pattern.ts";
import type { Log } from "../../base/log.ts";
import type { HostAnswer } from "../../network/proxy/protocol.ts";
import { toErrorData } from "../../base/errors.ts";
import type { AuditLog } from "../../audit/log.ts";
import { isListed } from "../../policy/conditions.ts";
import { addressRange } from "../../base/addresses.ts";
import { isOwnListener, type OwnListeners } from "../../policy/resolve/own_listeners.ts";
import { resolveUrl } from "../../policy/resolve/resolve.ts";
import { visibleCut } from "../../base/visible_text.ts";

/** What a judge works with. */
export interface NetworkJudgeDeps {
  /** See `SandboxNetworkOptions.hosts`. */
  hosts: readonly string[];
  /** `gates.privateHosts`. */
  privateHosts: readonly string[];
  /** Where the service itself listens now: never reached, whoever lists it. */
  listeners: () => OwnListeners;
  /** Who asks, as the record names it. */
  user: Record<string, unknown>;
  audit: Pick<AuditLog, "append">;
  log: Pick<Log, "error">;
}

/** Ports of a host that is listed without one. */
export const DEFAULT_PORTS: readonly number[] = [80, 443];

/** Hosts that are put on record for one program; later ones are refused unrecorded, and that is recorded. */
const MAX_RECORDED_HOSTS = 1_024;
const UNLISTED = "network.unlisted";
/** Addresses that a name may have; a child that tells of more is not to be believed. */
const MAX_ADDRESSES = 64;

/** Refusals that are told of, each host and port once. */
const MAX_TOLD_REFUSALS = 5;
const MAX_REASON_CHARS = 200;

interface Asked {
  host: string;
  port: number;
  /** Of a literal: itself. */
  addresses: readonly string[];
}

interface Verdict {
  allowed: boolean;
  /** Stable name. */
  rule: string;
  /** For people. */
  reason: string;
}

/** A connection that was not made. */
export interface NetworkRefusal {
  host: string;
  port: number;
  /** For people. */
  reason: string;
  /** It would be made if the host were among those that the program is given. */
  isUnlisted: boolean;
}

/** Judges the connections of one program. */
export class NetworkJudge {
  readonly #deps: NetworkJudgeDeps;
  /** What it was given, read. */
  readonly patterns: readonly HostPattern[];
  readonly #records = new Map<string, Promise<boolean>>();
  #overflow: Promise<boolean> | undefined;
  readonly #refusals = new Map<string, NetworkRefusal>();

  constructor(deps: NetworkJudgeDeps) {
    this.#deps = deps;
    this.patterns = deps.hosts.map((text) => {
      const pattern = parseHostPattern(text);
      if (pattern === undefined) throw new TypeError(`Cannot read the host "${text}"`);
      return pattern;
    });
  }

  /** Takes the child's word that an allowed host was not reached. Nothing goes by it; it is told of. */
  unreached(params: unknown): void {
    const asked = readAsked(params);
    const { reason } = (params ?? {}) as Record<string, unknown>;
    if (asked === undefined || typeof reason !== "string") return;
    if (!this.#judgeName(asked).allowed) return;
    this.#tell(asked, visibleCut(reason, MAX_REASON_CHARS), false);
  }

  /** The first connections that were not made. */
  refusals(): readonly NetworkRefusal[] {
    return [...this.#refusals.values()];
  }

  /**
   * Each host that is allowed by its whole name, with its ports: what `/etc/hosts` can say. A name of
   * loopback means the sandbox's own, whatever is allowed (RFC 6761, 6.3).
   */
  wholeNames(): { host: string; port: number }[] {
    return this.patterns.filter(({ host, ending, isAddress }) =>
      ending === undefined && !isAddress && !/(?:^|\.)localhost$/.test(host)
    )
      .flatMap(({ host, port }) =>
        (port === undefined ? DEFAULT_PORTS : [port])
          .map((port) => ({ host, port }))
      );
  }

  /** A host that is asked for, before it is looked up. Everything in `params` is the child's word. */
  async host(params: unknown): Promise<HostAnswer> {
    const asked = readAsked(params);
    if (asked === undefined) return { refused: "its name is no name of a host" };
    const verdict = this.#judgeName(asked);
    if (!verdict.allowed) return await this.#refuse(asked, verdict);
    return asked.addresses.length === 0 ? { addresses: [] } : await this.#whole(asked);
  }

  /** The same with the addresses that it has by a look-up of just now. */
  async addresses(params: unknown): Promise<HostAnswer> {
    const asked = readAsked(params);
    if (asked === undefined) return { refused: "its name is no name of a host" };
    const verdict = this.#judgeName(asked);
    if (!verdict.allowed) return await this.#refuse(asked, verdict);
    if (asked.addresses.length > 0) return await this.#whole(asked);
    const addresses = readAddresses(params);
    if (addresses === undefined) return { refused: "its addresses are none" };
    return await this.#whole({ ...asked, addresses });
  }

  async #whole(asked: Asked): Promise<HostAnswer> {
    const verdict = this.#judgeAddresses(asked);
    if (!verdict.allowed) return await this.#refuse(asked, verdict);
    if (await this.#record(asked, verdict)) return { addresses: [...asked.addresses] };
    return { refused: "it cannot be recorded, and what is not on record is not done" };
  }

  #judgeName({ host, port }: Asked): Verdict {
    const isAllowed = this.patterns.some((pattern) =>
      meansHost(pattern, host, port) &&
      (pattern.port !== undefined || DEFAULT_PORTS.includes(port))
    );
    if (isAllowed) return { allowed: true, rule: "network.hosts", reason: "it is allowed" };
    const other = this.patterns.some((pattern) =>
      meansHost({ ...pattern, port: undefined }, host, port)
    );
    const what = other ? `port ${port} of it` : "it";
    return {
      allowed: false,
      rule: UNLISTED,
      reason: `${what} is not among the hosts that this program may reach`,
    };
  }

  #judgeAddresses({ host, port, addresses }: Asked): Verdict {
    const { privateHosts, listeners } = this.#deps;
    if (addresses.length === 0) {
      return { allowed: false, rule: "network.unresolved", reason: "it has no address" };
    }
    const own = listeners();
    for (const address of addresses) {
      const range = addressRange(address);
      if (isOwnListener(address, port, own)) {
        return { allowed: false, rule: "network.own", reason: "it is this service itself" };
      }
      if (range !== "public" && !isListed(privateHosts, host, port, address)) {
        return {
          allowed: false,
          rule: "network.private",
          reason: "it leads to an address of this machine or its network; " +
            "gates.privateHosts can list it",
        };
      }
    }
    return { allowed: true, rule: "network.hosts", reason: "it is allowed" };
  }

  async #refuse(asked: Asked, verdict: Verdict): Promise<HostAnswer> {
    this.#tell(asked, verdict.reason, verdict.rule === UNLISTED);
    await this.#record(asked, verdict);
    return { refused: `"${asked.host}" is refused: ${verdict.reason} (rule ${verdict.rule})` };
  }

  #tell({ host, port }: Asked, reason: string, isUnlisted: boolean): void {
    const key = `${host} ${port}`;
    if (this.#refusals.size >= MAX_TOLD_REFUSALS || this.#refusals.has(key)) return;
    this.#refusals.set(key, { host, port, reason, isUnlisted });
  }

  /** Whether it is on record, which happens once a host and verdict. */
  #record(asked: Asked, { allowed, rule }: Verdict): Promise<boolean> {
    const key = `${allowed} ${asked.host}`;
    const known = this.#records.get(key);
    if (known !== undefined) return known;
    const effect = allowed ? "allow" : "deny";
    const { user } = this.#deps;
    if (this.#records.size >= MAX_RECORDED_HOSTS) {
      this.#overflow ??= this.#append({ ...user, effect: "deny", rule: "network.many" });
      return Promise.resolve(false);
    }
    const { host, port, addresses } = asked;
    const recorded = this.#append({ ...user, host, port, addresses, effect, rule });
    this.#records.set(key, recorded);
    return recorded;
  }

  async #append(data: Record<string, unknown>): Promise<boolean> {
    try {
      await this.#deps.audit.append("network.host", data);
      return true;
    } catch (error) {
      const { code, message } = toErrorData(error);
      this.#deps.log.error("A connection of a sandboxed program cannot be recorded", {
        code,
        reason: message,
      });
      return false;
    }
  }
}

/** As a URL of that host would be resolved, so that no spelling of an address passes for a name. */
function readAsked(params: unknown): Asked | undefined {
  const { host, port } = (params ?? {}) as Record<string, unknown>;
  if (typeof host !== "string" || !/^(?:[A-Za-z0-9_.-]{1,253}|[0-9A-Fa-f:.]{2,45})$/.test(host)) {
    return;
  }
  if (!Number.isInteger(port) || (port as number) < 1 || (port as number) > 65_535) return;
  const target = resolveUrl(`http://${host.includes(":") ? `[${host}]` : host}:${port}/`);
  if (target.kind === "unresolved") return;
  return { host: target.host, port: target.port, addresses: target.addresses };
}

function readAddresses(params: unknown): string[] | undefined {
  const { addresses } = (params ?? {}) as Record<string, unknown>;
  if (!Array.isArray(addresses) || addresses.length > MAX_ADDRESSES) return;
  const isAddress = (value: unknown) =>
    typeof value === "string" && addressRange(value) !== "no address";
  return addresses.every(isAddress) ? addresses : undefined;
}
