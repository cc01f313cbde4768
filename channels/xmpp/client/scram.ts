/**
 * A login that shows that one knows a password, and that the other side does, without saying it
 * (RFC 5802, RFC 7677).
 *
 * @module
 */

/** Rounds that a server may ask for; usual are 4,096 to 100,000. */
const MAX_ROUNDS = 1_000_000;

const encoder = new TextEncoder();

/** Begins one. `hash`: `SHA-1`, `SHA-256` or `SHA-512`. */
export function beginScram(
  hash: string,
  user: string,
  password: string,
  nonce = crypto.getRandomValues(new Uint8Array(24)).toBase64(),
): {
  /** What is said first. */
  first: string;
  /** To the challenge of the server: what is said then, and whether its last word shows that it knows us. */
  answer: (challenge: string) => Promise<{ final: string; isServer: (last: string) => boolean }>;
} {
  const bare = `n=${user.replaceAll("=", "=3D").replaceAll(",", "=2C")},r=${nonce}`;
  return {
    first: `n,,${bare}`,
    async answer(challenge) {
      const [, both, salt, rounds] = /^r=([^,]+),s=([^,]+),i=(\d+)/.exec(challenge) ?? [];
      if (!both?.startsWith(nonce) || !(Number(rounds) > 0 && Number(rounds) <= MAX_ROUNDS)) {
        throw new Error("the server has made no sense in the login (SCRAM)");
      }
      const key = encoder.encode(password.normalize("NFKC"));
      const salted = await crypto.subtle.deriveBits(
        { name: "PBKDF2", hash, salt: Uint8Array.fromBase64(salt!), iterations: Number(rounds) },
        await crypto.subtle.importKey("raw", key, "PBKDF2", false, ["deriveBits"]),
        { "SHA-1": 160, "SHA-256": 256, "SHA-512": 512 }[hash]!,
      );
      const own = `c=biws,r=${both}`;
      const said = `${bare},${challenge},${own}`;
      const clientKey = await hmac(hash, salted, "Client Key");
      const signature = await hmac(hash, await crypto.subtle.digest(hash, clientKey), said);
      const proof = clientKey.map((byte, at) => byte ^ signature[at]!).toBase64();
      const ofServer = await hmac(hash, await hmac(hash, salted, "Server Key"), said);
      return {
        final: `${own},p=${proof}`,
        isServer: (last) => last === `v=${ofServer.toBase64()}`,
      };
    },
  };
}

async function hmac(
  hash: string,
  key: BufferSource,
  text: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const made = await crypto.subtle.importKey("raw", key, { name: "HMAC", hash }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", made, encoder.encode(text)));
}
