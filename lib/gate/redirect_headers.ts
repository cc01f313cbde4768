/**
 * Which of a fetch's own headers go with it to where it is redirected: a secret goes to no host that it is
 * not for, and nothing that logs a caller in goes to another origin.
 *
 * @module
 */

import { secretsNamedIn } from "../policy/secret_references.ts";
import type { UrlTarget } from "../contract/actions.ts";
import { resolveUrl } from "../policy/resolve/resolve.ts";
import type { Judge, Judged } from "./judge.ts";
import { useOf } from "./judge_call.ts";

/** What logs a caller in, even where it is no secret of ours. */
const LOGIN_HEADERS = new Set(["authorization", "proxy-authorization", "cookie"]);

/** What goes on, and what is left behind. */
export interface NextHeaders {
  headers: Readonly<Record<string, string>>;
  /** Names of headers that are not sent on, for people. */
  left: readonly string[];
}

/** The headers for `url`, where `judged` was led. A use of a secret that this ends is on record. */
export async function headersAfterRedirect(
  judge: Pick<Judge, "refuseAtOnce">,
  judged: Judged & { target: UrlTarget },
  url: string,
): Promise<NextHeaders> {
  const { headers = {} } = judged.target;
  const next = resolveUrl(url, headers);
  if (next.kind === "unresolved" || isSameOrigin(judged.target, next)) return { headers, left: [] };
  const refused = new Set<string>();
  for (const name of new Set(Object.values(headers).flatMap(secretsNamedIn))) {
    const use = useOf(name, { ...judged, target: next })!;
    if (await judge.refuseAtOnce(use, "secret.scope") !== undefined) refused.add(name);
  }
  const left = Object.entries(headers).filter(([name, value]) => {
    const secrets = secretsNamedIn(value);
    return secrets.length === 0
      ? LOGIN_HEADERS.has(name)
      : secrets.some((secret) => refused.has(secret));
  }).map(([name]) => name);
  const kept = Object.entries(headers).filter(([name]) => !left.includes(name));
  return { headers: Object.fromEntries(kept), left };
}

function isSameOrigin(a: UrlTarget, b: UrlTarget): boolean {
  return new URL(a.url).origin === new URL(b.url).origin;
}
