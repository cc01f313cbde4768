/**
 * Hosts of a manifest that stand for whatever lies under a domain of the platform.
 *
 * @module
 */

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";

/** `*.<domain>`, maybe with a port. The last label has a letter, so that no address is one. */
const WILDCARD = new RegExp(
  `^\\*\\.((?:${LABEL}\\.)+(?=[a-z0-9-]*[a-z])${LABEL})(?::(\\d{1,5}))?$`,
);

/** Suffixes under which anybody may have a name, of the form that most countries have. */
const PUBLIC_SUFFIX = /^(?:ac|co|com|edu|gov|net|org)\.[a-z]{2}$/;

/** Whether it is `*.<domain>` or `*.<domain>:<port>`, with a domain of two labels or more. */
export function isWildcardHost(value: string): boolean {
  const [, domain, port] = WILDCARD.exec(value) ?? [];
  return domain !== undefined && !PUBLIC_SUFFIX.test(domain) &&
    Number(port ?? 1) >= 1 && Number(port ?? 1) <= 65_535;
}
