/**
 * Names that the header with a proxy's word may have.
 *
 * @module
 */

/** Headers about the client that proxies pass on from whoever sent them. */
const CLIENT_HEADERS = /^(?:host|forwarded|x-forwarded-.*|x-real-ip|cf-connecting-ip)$/;

/** Headers that every browser or every connection sets by itself. */
const OWN_HEADERS =
  /^(?:connection|content-length|content-type|cookie|keep-alive|origin|referer|sec-.*|te|trailer|transfer-encoding|upgrade|user-agent)$/;

/** Why a name cannot be that of the header; undefined if it can. */
export function assertionHeaderProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/.test(name)) return "is no name of a header";
  // Some servers take one for the other.
  const lower = name.toLowerCase().replaceAll("_", "-");
  if (CLIENT_HEADERS.test(lower)) {
    return "is a header that a client can set through a proxy; " +
      "take one that the proxy always sets itself, such as X-Proxy-Assertion";
  }
  if (OWN_HEADERS.test(lower)) return "is a header that clients set themselves";
  return undefined;
}
