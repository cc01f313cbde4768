/**
 * The proxy's route to sign out.
 *
 * @module
 */

/** Why a text is no path on this origin that a page may lead to; undefined if it is one. */
export function signOutPathProblem(path: string): string | undefined {
  const wanted = "is no path on this origin, such as /oauth2/sign_out";
  // Browsers read a backslash as a slash and drop tabs and line ends: \\host and /<tab>/host are hosts.
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path) || path.length > 2_048) return wanted;
  const origin = "http://origin.invalid";
  const url = URL.parse(path, origin);
  // With dots resolved it has to be what it was: /.//host becomes //host, which is a host to the next.
  return url?.origin === origin && url.href === origin + path ? undefined : wanted;
}
