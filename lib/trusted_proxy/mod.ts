/**
 * Who a request is from, by the word of a proxy in front.
 *
 * Stands alone: it is the only code that believes a header about a person.
 *
 * Invariants:
 * - Both must hold: the direct TCP peer is in a listed network, and its assertion is valid.
 * - No header about where a request came from is ever read.
 * - Keys are fetched by a child that reaches the judged addresses of one host; 5 s, 256 KiB, no
 *   redirect.
 *
 * Runs in: gateway; the problems of its settings in launcher and one-shot commands.
 *
 * Entries:
 * - `create_trusted_proxy.ts`: checks a request
 * - `fetch_jwks.ts`: fetches signing keys in bounds
 * - `jwks_address.ts`: where keys may be fetched from
 * - `jwks_limits.ts`: bounds of the fetch
 * - `peer_network.ts`: networks of direct peers
 * - `trusted_proxy_problems.ts`: what is wrong with the settings
 *
 * @module
 */
