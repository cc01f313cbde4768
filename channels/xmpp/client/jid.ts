/**
 * Addresses of XMPP: `local@domain/resource` (RFC 7622).
 *
 * @module
 */

/** An address in its parts; what is not there is empty. */
export interface Jid {
  local: string;
  domain: string;
  resource: string;
}

/** Bytes of a part (RFC 7622, 3). */
const MAX_PART_BYTES = 1023;

const encoder = new TextEncoder();

/** Undefined for what is no address. Servers have prepared what they deliver: nothing is changed here. */
export function parseJid(text: string): Jid | undefined {
  const slash = text.indexOf("/");
  const bare = slash === -1 ? text : text.slice(0, slash);
  const resource = slash === -1 ? "" : text.slice(slash + 1);
  const at = bare.indexOf("@");
  const local = at === -1 ? "" : bare.slice(0, at);
  const domain = bare.slice(at + 1);
  if (domain === "" || at === 0 || (slash !== -1 && resource === "")) return undefined;
  if (/[\s\p{Cc}\p{Cs}@"&'/:<>]/u.test(local) || /[\s\p{Cc}\p{Cs}@"&'<>]/u.test(domain)) {
    return undefined;
  }
  if (/[\p{Cc}\p{Cs}]/u.test(resource)) return undefined;
  const tooLong = [local, domain, resource].some((part) =>
    encoder.encode(part).length > MAX_PART_BYTES
  );
  return tooLong ? undefined : { local, domain, resource };
}

/** The address without its resource; as it is for what is none. */
export function bareJid(text: string): string {
  const slash = text.indexOf("/");
  return slash === -1 ? text : text.slice(0, slash);
}

/** What stands behind the first slash; empty where there is none. */
export function resourceOf(text: string): string {
  const slash = text.indexOf("/");
  return slash === -1 ? "" : text.slice(slash + 1);
}

/** As servers compare them: the address in small letters, a resource as it is. */
export function foldJid(text: string): string {
  const bare = bareJid(text);
  return bare.toLowerCase().normalize("NFC") + text.slice(bare.length);
}

/** Whether a host belongs to a domain: is it, or lies under it. */
export function isUnder(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** A list of addresses, folded. What is no list stays what it is. */
export function foldAddresses<T>(list: T): T {
  if (!Array.isArray(list)) return list;
  return list.map((each) =>
    typeof each === "string" && each.includes("@") ? foldJid(each.trim()) : each
  ) as T;
}
