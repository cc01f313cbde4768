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
const PUBLIC_SUFFIX = /^(?:ac|co|com|edu|gov|go|ne|net|or|org)\.[a-z]{2}$/;

/** Domains under which a provider gives names, and what answers there, to anybody, at any depth. */
const PROVIDERS = [
  "amazonaws.com",
  "appspot.com",
  "azurewebsites.net",
  "blogspot.com",
  "cloudapp.net",
  "cloudfront.net",
  "deno.dev",
  "deno.net",
  "duckdns.org",
  "dyndns.org",
  "firebaseapp.com",
  "fly.dev",
  "github.io",
  "githubusercontent.com",
  "gitlab.io",
  "googleapis.com",
  "herokuapp.com",
  "localtest.me",
  "loca.lt",
  "lvh.me",
  "netlify.app",
  "ngrok.app",
  "ngrok.io",
  "ngrok-free.app",
  "nip.io",
  "no-ip.org",
  "onrender.com",
  "pages.dev",
  "r2.dev",
  "railway.app",
  "run.app",
  "sslip.io",
  "trycloudflare.com",
  "ts.net",
  "vercel.app",
  "web.app",
  "windows.net",
  "workers.dev",
  "xip.io",
];

/** Whether it is `*.<domain>` or `*.<domain>:<port>`, with a domain of two labels or more. */
export function isWildcardHost(value: string): boolean {
  const [, domain, port] = WILDCARD.exec(value) ?? [];
  return domain !== undefined && !PUBLIC_SUFFIX.test(domain) && !isOfAnybody(domain) &&
    Number(port ?? 1) >= 1 && Number(port ?? 1) <= 65_535;
}

function isOfAnybody(domain: string): boolean {
  return PROVIDERS.some((one) => domain === one || domain.endsWith(`.${one}`));
}
