import { assertEquals, assertRejects } from "@std/assert";
import { type ChildOutcome } from "../../executor/executor.ts";
import { createSigningKeyFetch } from "../../authority/jwks/signing_key_fetch.ts";
import { systemClock } from "../../base/clock.ts";
import { toErrorData } from "../../base/errors.ts";
import { fetchJwks } from "../../trusted_proxy/fetch_jwks.ts";
import { parseJwksUrl } from "../../trusted_proxy/jwks_address.ts";
import { makeSigner } from "../../trusted_proxy/testing/issuer.ts";
import type { ToAuthority } from "../../authority/bridge.ts";
import { type AuthorityLink, linkAuthority } from "./remote_actions.ts";

const JWKS_URL = "https://keys.example/jwks";

/** The service's end of the bridge, with the authority's own fetch behind it, whose children are told. */
function linked(...outcomes: ChildOutcome[]): { link: AuthorityLink; sent: ToAuthority[] } {
  const sent: ToAuthority[] = [];
  const keys = createSigningKeyFetch({
    jwksUrl: JWKS_URL,
    executor: { run: () => Promise.resolve(outcomes.shift()!) },
  });
  const link = linkAuthority({
    now: () => 0,
    send: (message) => {
      sent.push(message);
      if (message.type !== "signing_keys") return;
      const { id, step } = message;
      const answer = step === "fetch"
        ? keys.ask()
        : keys.resolve().then((addresses) => ({ addresses }));
      void answer.catch((error) => ({ error: toErrorData(error) })).then((result) =>
        link.receive(structuredClone({ type: "signing_key_answer", id, result }))
      );
    },
  });
  return { link, sent };
}

const url = parseJwksUrl(JWKS_URL);
if ("problem" in url) throw new Error(url.problem);

Deno.test("signingKeys brings keys over the bridge, and says nothing there but which step", async () => {
  const { jwk } = await makeSigner("EdDSA", "ed");
  const { link, sent } = linked(
    { type: "addresses", addresses: ["93.184.216.34"] },
    {
      type: "result",
      output: JSON.stringify({
        status: 200,
        headers: { "content-type": "application/json" },
        body: new TextEncoder().encode(JSON.stringify({ keys: [jwk] })).toBase64(),
      }),
    },
  );
  const keys = await fetchJwks(url, { network: link.signingKeys, clock: systemClock });
  assertEquals(keys.has("ed"), true);
  assertEquals(sent.map((message) => ({ ...message, id: 0 })), [
    { type: "signing_keys", id: 0, step: "resolve" },
    { type: "signing_keys", id: 0, step: "fetch" },
  ]);
});

Deno.test("signingKeys fails with the authority's own words, and for redirects", async () => {
  const bad = linked({ type: "addresses", addresses: ["93.184.216.34", "169.254.169.254"] });
  await assertRejects(
    () => fetchJwks(url, { network: bad.link.signingKeys, clock: systemClock }),
    Error,
    "keys.example",
  );
  const redirect = linked({ type: "addresses", addresses: ["93.184.216.34"] }, {
    type: "result",
    output: JSON.stringify({ status: 302, headers: {}, body: "" }),
  });
  await assertRejects(
    () => fetchJwks(url, { network: redirect.link.signingKeys, clock: systemClock }),
    Error,
    "redirect",
  );
});

Deno.test("signingKeys does not wait on after its time", async () => {
  const link = linkAuthority({ now: () => 0, send: () => {} });
  const abort = new AbortController();
  const asked = link.signingKeys.resolve("keys.example", abort.signal);
  abort.abort(new Error("too late"));
  await assertRejects(() => asked, Error, "too late");
});
