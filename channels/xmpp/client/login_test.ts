import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createHmac, pbkdf2Sync } from "node:crypto";
import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import { logIn, type ServerAddress } from "./login.ts";
import { NS } from "./namespaces.ts";

const LOGIN = { local: "agent", domain: "example.org", password: "pencil", resource: "service" };
const HEAD = `<stream:stream xmlns='jabber:client' xmlns:stream='${NS.streams}' version='1.0'>`;

const features = (inner: string) => `${HEAD}<stream:features>${inner}</stream:features>`;
const offer = (...mechanisms: string[]) =>
  features(
    `<mechanisms xmlns='${NS.sasl}'>${
      mechanisms.map((name) => `<mechanism>${name}</mechanism>`).join("")
    }</mechanisms>`,
  );
const sasl = (name: string, text = "") => `<${name} xmlns='${NS.sasl}'>${btoa(text)}</${name}>`;

/** Answers each thing that is said with the next, and resolves with how the login went and what was said. */
async function logInTo(
  answers: readonly (string | ((said: string) => string))[],
  tls: ServerAddress["tls"] = "none",
) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const said: string[] = [];
  const serving = (async () => {
    const connection = await listener.accept();
    const chunk = new Uint8Array(64 * 1024);
    for (const answer of answers) {
      const size = await connection.read(chunk);
      if (size === null) break;
      const text = new TextDecoder().decode(chunk.subarray(0, size));
      said.push(text);
      const reply = typeof answer === "string" ? answer : answer(text);
      await connection.write(new TextEncoder().encode(reply));
    }
    // Until the other side has closed it.
    while (await connection.read(chunk) !== null);
    connection.close();
  })();
  const address = { host: "127.0.0.1", port, domain: "example.org", tls, caCerts: [] };
  try {
    const result = await logIn(address, LOGIN, new AbortController().signal);
    result.stream.close(new Error("the test is over"));
    return { result, said };
  } finally {
    await serving.catch(() => {});
    listener.close();
  }
}

/** The text of what was said in the exchange. */
const plain = (element: string) => atob(/>([^<]*)</.exec(element)![1]!);

/** A server that knows the password, or another one; its last word comes in a challenge, or with the success. */
function scramServer(password: string, isInChallenge = false) {
  let first = "";
  let challenge = "";
  return [
    offer("PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256"),
    (said: string) => {
      assertStringIncludes(said, `mechanism="SCRAM-SHA-256"`);
      first = plain(said).replace("n,,", "");
      challenge = `r=${/r=(.*)$/.exec(first)![1]}more,s=${btoa("salt")},i=5`;
      return sasl("challenge", challenge);
    },
    (said: string) => {
      const [bare] = plain(said).split(",p=");
      const salted = pbkdf2Sync(password, "salt", 5, 32, "sha256");
      const key = createHmac("sha256", salted).update("Server Key").digest();
      const all = `${first},${challenge},${bare}`;
      const last = `v=${createHmac("sha256", key).update(all).digest("base64")}`;
      return sasl(isInChallenge ? "challenge" : "success", last);
    },
    ...isInChallenge ? [sasl("success")] : [],
    features(`<sm xmlns='${NS.acks}'/>`),
    `<iq type='result' id='bind'><bind xmlns='${NS.bind}'><jid>agent@example.org/x</jid></bind></iq>`,
  ];
}

Deno.test("logIn() shows that it knows the password and lets the server show it, and is told its address", async () => {
  for (const isInChallenge of [false, true]) {
    const { result, said } = await logInTo(scramServer("pencil", isInChallenge));
    assertEquals([result.jid, result.hasAcks], ["agent@example.org/x", true]);
    assertStringIncludes(said.at(-1)!, "<resource>service</resource>");
  }
});

Deno.test("logIn() goes on with no server that does not know the password", async () => {
  await assertRejects(
    () => logInTo(scramServer("another")),
    Error,
    "the server does not know the password",
  );
  // Not so much as a word of it.
  const silent = [...scramServer("pencil").slice(0, 2), sasl("success")];
  await assertRejects(() => logInTo(silent), Error, "the server does not know the password");
});

Deno.test("logIn() says no password in the clear, and says why it is not let in", async () => {
  const refused = await assertRejects(() => logInTo([offer("PLAIN")]), LoginRefusedError);
  assertStringIncludes(refused.message, "no kind of login that keeps the password safe");
  const failure = (condition: string) =>
    `<failure xmlns='${NS.sasl}'><${condition}/><text>a\nb</text></failure>`;
  const wrong = () => logInTo([offer("SCRAM-SHA-1"), failure("not-authorized")]);
  await assertRejects(wrong, LoginRefusedError, "the name or the password is wrong");
  const passing = () => logInTo([offer("SCRAM-SHA-1"), failure("temporary-auth-failure")]);
  const error = await assertRejects(passing, Error, "temporary-auth-failure a b");
  assert(!(error instanceof LoginRefusedError));
});

Deno.test("logIn() takes nothing for encrypted that was said in the clear", async () => {
  const offered = features(`<starttls xmlns='${NS.tls}'/>`);
  const proceed = `<proceed xmlns='${NS.tls}'/>`;
  for (
    const [answer, words] of [
      [`${proceed}<message/>`, "goes on in the clear"],
      [`${proceed}<mess`, "goes on in the clear"],
      [`<failure xmlns='${NS.tls}'/>`, "refuses encryption"],
      [`<stream:error><host-unknown/></stream:error>`, "host-unknown"],
      ["</stream:stream>", "has closed the connection"],
    ] as const
  ) {
    await assertRejects(() => logInTo([offered, answer], "starttls"), Error, words);
  }
  await assertRejects(
    () => logInTo([features("")], "starttls"),
    Error,
    "does not offer encryption",
  );
});
