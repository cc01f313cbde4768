import { assert, assertEquals, assertRejects } from "@std/assert";
import { beginScram } from "./scram.ts";

Deno.test("beginScram() says what RFC 5802 and RFC 7677 show, and knows the server by its last word", async () => {
  for (
    const { hash, nonce, challenge, proof, last } of [
      {
        hash: "SHA-1",
        nonce: "fyko+d2lbbFgONRv9qkxdawL",
        challenge: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
        proof: "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
        last: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=",
      },
      {
        hash: "SHA-256",
        nonce: "rOprNGfwEbeRWgbNEkqO",
        challenge:
          "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==," +
          "i=4096",
        proof: "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
        last: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
      },
    ]
  ) {
    const { first, answer } = beginScram(hash, "user", "pencil", nonce);
    assertEquals(first, `n,,n=user,r=${nonce}`);
    const { final, isServer } = await answer(challenge);
    const [both] = challenge.split(",");
    assertEquals(final, `c=biws,${both},p=${proof}`);
    assert(isServer(last));
    assert(!isServer("v=AAAA") && !isServer(""));
  }
});

Deno.test("beginScram() answers no challenge that is none, is another's, or takes for ever", async () => {
  const { answer } = beginScram("SHA-1", "a,b=c", "x", "abc");
  for (const challenge of ["", "r=abcd,s=AAAA", "r=xyz,s=AAAA,i=1", "r=abcd,s=AAAA,i=99999999"]) {
    await assertRejects(() => answer(challenge), Error, "no sense");
  }
  assertEquals(beginScram("SHA-1", "a,b=c", "x", "abc").first, "n,,n=a=2Cb=3Dc,r=abc");
});
