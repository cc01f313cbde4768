import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { MAX_SKEW_S, readClaim, readSecrets, secretProblem, Signer } from "./signature.ts";
import { rounds } from "../../../tests/support/rounds.ts";

/** The vector that implementations of the scheme are tested with. */
const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const TIMESTAMP_S = 1_614_265_330;
const BODY = '{"test": 2432232314}';
const SIGNATURE = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";

const OTHER = `whsec_${new Uint8Array(32).fill(7).toBase64()}`;

const bytes = (text: string) => new TextEncoder().encode(text);

function headers(changes: Partial<Record<string, string>> = {}): Headers {
  const all = {
    "webhook-id": ID,
    "webhook-timestamp": String(TIMESTAMP_S),
    "webhook-signature": SIGNATURE,
    ...changes,
  };
  return new Headers(
    Object.entries(all).filter((one): one is [string, string] => one[1] !== undefined),
  );
}

Deno.test("Signer.sign() gives the signature of the scheme's test vector", async () => {
  const signer = await Signer.from([SECRET]);
  assertEquals(await signer.sign({ id: ID, timestampS: TIMESTAMP_S, body: bytes(BODY) }), {
    "webhook-id": ID,
    "webhook-timestamp": "1614265330",
    "webhook-signature": SIGNATURE,
  });
});

Deno.test("Signer.isSigned() takes the scheme's test vector, alone and among others", async () => {
  const now = TIMESTAMP_S * 1_000;
  const signer = await Signer.from([SECRET]);
  for (
    const signatures of [
      SIGNATURE,
      `v1,bm90aGluZw== ${SIGNATURE}`,
      `v2,${SIGNATURE.slice(3)} ${SIGNATURE}`,
      `v1a,abc ${SIGNATURE} v1,!!!`,
    ]
  ) {
    const claim = readClaim(headers({ "webhook-signature": signatures }), now);
    assert(claim !== undefined && await signer.isSigned(claim, bytes(BODY)), signatures);
  }
});

Deno.test("Signer.isSigned() refuses a body, an id or a time that was changed by one character", async () => {
  const signer = await Signer.from([SECRET]);
  const now = TIMESTAMP_S * 1_000;
  const original = readClaim(headers(), now)!;
  assert(!await signer.isSigned(original, bytes(`${BODY} `)));
  assert(!await signer.isSigned(original, bytes("")));
  assert(!await signer.isSigned({ ...original, id: `${ID}x` }, bytes(BODY)));
  assert(!await signer.isSigned({ ...original, timestamp: "1614265331" }, bytes(BODY)));
  assert(!await signer.isSigned({ ...original, signatures: [] }, bytes(BODY)));
  assert(!await (await Signer.from([OTHER])).isSigned(original, bytes(BODY)));
});

Deno.test("Signer.isSigned() takes either secret while one goes out of use", async () => {
  const [old, next] = [await Signer.from([SECRET]), await Signer.from([OTHER])];
  const both = await Signer.from([OTHER, SECRET]);
  const now = TIMESTAMP_S * 1_000;
  const sign = (signer: Signer) =>
    signer.sign({ id: "a", timestampS: TIMESTAMP_S, body: bytes("b") });
  const takes = async (signer: Signer, signed: object) =>
    await signer.isSigned(readClaim(new Headers(Object.entries(signed)), now)!, bytes("b"));
  assert(await takes(both, await sign(old)));
  assert(await takes(both, await sign(next)));
  // What is sent meanwhile is taken by receivers that have one of them.
  assert(await takes(old, await sign(both)));
  assert(await takes(next, await sign(both)));
  assert(!await takes(old, await sign(next)));
});

Deno.test("readClaim() refuses what is missing, malformed, old or of the future", () => {
  const now = TIMESTAMP_S * 1_000;
  assert(readClaim(headers(), now + MAX_SKEW_S * 1_000) !== undefined);
  assert(readClaim(headers(), now - MAX_SKEW_S * 1_000) !== undefined);
  assertEquals(readClaim(headers(), now + MAX_SKEW_S * 1_000 + 1), undefined);
  assertEquals(readClaim(headers(), now - MAX_SKEW_S * 1_000 - 1), undefined);
  for (
    const changes of [
      { "webhook-id": undefined },
      { "webhook-id": "" },
      // A part of it could be taken for the time.
      { "webhook-id": `${ID}.1614265330` },
      { "webhook-id": "a b" },
      { "webhook-id": "x".repeat(257) },
      { "webhook-timestamp": undefined },
      { "webhook-timestamp": "1614265330.0" },
      { "webhook-timestamp": "-1614265330" },
      { "webhook-timestamp": "1e9" },
      { "webhook-timestamp": "NaN" },
      { "webhook-signature": undefined },
      { "webhook-signature": "" },
      { "webhook-signature": SIGNATURE.slice(3) },
      { "webhook-signature": `v2,${SIGNATURE.slice(3)}` },
      { "webhook-signature": "v1,%%%" },
      { "webhook-signature": `${"v1,! ".repeat(8)}${SIGNATURE}` },
    ]
  ) assertEquals(readClaim(headers(changes), now), undefined, JSON.stringify(changes));
});

Deno.test("readClaim() and Signer.isSigned() take nothing that was not signed", async () => {
  const signer = await Signer.from([SECRET]);
  const value = fc.string({ unit: "grapheme-ascii", maxLength: 60 }).map((text) => text.trim());
  await fc.assert(
    fc.asyncProperty(
      value,
      value,
      value,
      fc.uint8Array({ maxLength: 40 }),
      async (id, at, by, body) => {
        const claim = readClaim(
          headers({ "webhook-id": id, "webhook-timestamp": at, "webhook-signature": `v1,${by}` }),
          TIMESTAMP_S * 1_000,
        );
        assert(claim === undefined || !await signer.isSigned(claim, body));
      },
    ),
    { numRuns: rounds(500) },
  );
});

Deno.test("secretProblem() takes 24 to 64 bytes behind whsec_, and repeats none", async () => {
  const of = (size: number) => `whsec_${new Uint8Array(size).toBase64()}`;
  for (const good of [SECRET, of(24), of(64)]) assertEquals(secretProblem(good), undefined);
  for (
    const bad of ["", "hunter2hunter2", SECRET.slice(6), of(23), of(65), "whsec_!!!!", "whsec_"]
  ) {
    const problem = secretProblem(bad);
    assert(problem !== undefined && (bad.length < 7 || !problem.includes(bad)));
    await assertRejects(() => Signer.from([bad]), Error, "expected whsec_");
  }
  await assertRejects(() => Signer.from([]), Error, "no secret is set");
});

Deno.test("readSecrets() takes several in a field, each once", () => {
  assertEquals(readSecrets("a, b", "b\nc", undefined, ""), ["a", "b", "c"]);
});
