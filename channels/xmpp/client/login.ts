/**
 * From a host to a connection that the server knows by an address (RFC 6120, 5 to 7). It is encrypted, and
 * whoever is there has shown who it is, before a name or a password is said.
 *
 * @module
 */

import { LoginRefusedError } from "../../../lib/channel/delivery_error.ts";
import { openConnection } from "../../../lib/channel/platform/open_connection.ts";
import { NS } from "./namespaces.ts";
import { oneLine } from "./one_line.ts";
import { beginScram } from "./scram.ts";
import { XmlStream } from "./xml_stream.ts";
import { xml, type XmlElement } from "./xmpp_library.ts";

/** Where a server is, and how it is spoken to. */
export interface ServerAddress {
  host: string;
  port: number;
  /** The name that its certificate has to have (RFC 6120, 13.7.2). */
  domain: string;
  /** `starttls`: encrypted after a word in the clear; `direct`: from the first byte; `none`: never. */
  tls: "starttls" | "direct" | "none";
  /** Certificates (PEM) of authorities beside the usual ones. */
  caCerts: readonly string[];
}

/** Who logs in. */
export interface XmppLogin {
  local: string;
  domain: string;
  password: string;
  resource: string;
}

/** Bytes of what is said before encryption. */
const MAX_CLEAR_BYTES = 64 * 1024;

/** Conditions of a login that another try cannot mend (RFC 6120, 6.5). */
const REFUSED: Readonly<Record<string, string>> = {
  "not-authorized": "the name or the password is wrong",
  "account-disabled": "the account is disabled",
  "credentials-expired": "the password has expired",
  "invalid-authzid": "the server does not let this account in",
  "mechanism-too-weak": "the server wants a stronger kind of login than there is",
};

/** Resolves when the server has given us an address. Rejects with a LoginRefusedError, or why it cannot be. */
export async function logIn(
  address: ServerAddress,
  login: XmppLogin,
  signal: AbortSignal,
): Promise<{ stream: XmlStream; jid: string; hasAcks: boolean }> {
  const { host: hostname, port, tls, domain, caCerts } = address;
  const connection = await openConnection({
    hostname,
    port,
    async prepare(plain) {
      // A message and the question whether it has come are two small packets.
      plain.setNoDelay(true);
      if (tls === "starttls") await askForTls(plain, domain);
    },
    ...tls !== "none" && {
      tls: {
        hostname: domain,
        caCerts,
        // XEP-0368, 3: one port may serve more than this protocol.
        ...tls === "direct" && { alpnProtocols: ["xmpp-client"] },
      },
    },
  }, signal);
  const stream = new XmlStream(connection);
  const stop = () => stream.close(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await authenticate(stream, await stream.begin(domain), login, tls !== "none");
    const features = await stream.begin(domain);
    stream.write(xml(
      "iq",
      { type: "set", id: "bind" },
      xml("bind", { xmlns: NS.bind }, xml("resource", {}, login.resource)),
    ));
    const bound = await stream.next();
    const jid = bound.getChild("bind", NS.bind)?.getChildText("jid");
    if (!jid) throw new Error("the server gives this connection no address");
    return { stream, jid, hasAcks: features.getChild("sm", NS.acks) !== undefined };
  } catch (error) {
    stream.close(error as Error);
    throw error;
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Gets the server to begin TLS (RFC 6120, 5.4). Rejects where it does not want to. */
async function askForTls(connection: Deno.Conn, domain: string): Promise<void> {
  const tooMuch = "the server says too much before encryption";
  const stream = new XmlStream(connection, MAX_CLEAR_BYTES, tooMuch);
  const features = await stream.begin(domain);
  if (features.getChild("starttls", NS.tls) === undefined) {
    throw new Error("the server does not offer encryption (STARTTLS)");
  }
  stream.write(xml("starttls", { xmlns: NS.tls }));
  const answer = await stream.next();
  if (!answer.is("proceed", NS.tls)) throw new Error("the server refuses encryption (STARTTLS)");
  // What was said in the clear behind it would count as said under encryption.
  if (!stream.isRead) {
    throw new Error("the server goes on in the clear behind its consent to encrypt");
  }
}

/** Shows who we are (RFC 6120, 6), so that nobody learns the password where that can be. */
async function authenticate(
  stream: XmlStream,
  features: XmlElement,
  { local, domain, password }: XmppLogin,
  isSecure: boolean,
): Promise<void> {
  const refused = (why: string) =>
    new LoginRefusedError(`${local}@${domain} is not let in: ${why}`);
  const offered = features.getChild("mechanisms", NS.sasl)?.getChildren("mechanism")
    .map((mechanism) => mechanism.text()) ?? [];
  const say = async (name: string, bytes: string, mechanism?: string) => {
    stream.write(xml(name, { xmlns: NS.sasl, mechanism }, toBase64(bytes)));
    const answer = await stream.next();
    if (answer.is("failure", NS.sasl)) {
      const condition = answer.getChildElements().find(({ name }) => name !== "text")?.name ?? "";
      if (REFUSED[condition] !== undefined) throw refused(REFUSED[condition]);
      throw new Error(
        `the login has failed: ${
          oneLine(`${condition} ${answer.getChildText("text") ?? ""}`, 300)
        }`,
      );
    }
    return { isDone: answer.is("success", NS.sasl), text: fromBase64(answer.text()) };
  };
  if (offered.length === 0) throw new Error("the server offers no login");
  const scram = ["SCRAM-SHA-512", "SCRAM-SHA-256", "SCRAM-SHA-1"]
    .find((mechanism) => offered.includes(mechanism));
  if (scram !== undefined) {
    const { first, answer } = beginScram(scram.slice("SCRAM-".length), local, password);
    const challenge = await say("auth", first, scram);
    const { final, isServer } = await answer(challenge.text);
    const last = await say("response", final);
    // Some servers say it in a challenge of its own.
    const isDone = last.isDone || (await say("response", "")).isDone;
    if (!isDone || !isServer(last.text)) throw new Error("the server does not know the password");
  } else if (offered.includes("PLAIN") && isSecure) {
    const { isDone } = await say("auth", `\0${local}\0${password}`, "PLAIN");
    if (!isDone) throw new Error("the login has not come to its end");
  } else {
    throw refused("the server has no kind of login that keeps the password safe");
  }
}

function toBase64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

function fromBase64(text: string): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(text.trim()));
}
