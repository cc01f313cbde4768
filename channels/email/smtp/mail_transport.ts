/**
 * Sends mails over SMTP, each over a connection of its own and a few at a time.
 *
 * @module
 */

import nodemailer from "nodemailer";
import { PassThrough, type Readable } from "node:stream";
import type { MailServer } from "../account/settings.ts";
import type { TlsOptions } from "../account/tls_options.ts";
import type { OutgoingMail } from "./compose_mail.ts";
import { deliveryFault } from "./delivery_fault.ts";
import { openSocket } from "./open_socket.ts";

export interface MailTransport {
  /** Resolves when the server has taken the mail. Rejects as `deliveryFault` says. */
  send(mail: OutgoingMail): Promise<void>;
  /** Logs in and does nothing else. Rejects with the client's own error. */
  verify(): Promise<void>;
}

/** Connections at once: providers allow a handful. */
const MAX_CONNECTIONS = 3;

const ANSWER_TIMEOUT_MS = 120_000;

/** Connects when there is something to send and not before. */
export function createMailTransport(
  server: MailServer,
  { tls }: { tls: () => Promise<TlsOptions> },
): MailTransport {
  const gate = new Gate(MAX_CONNECTIONS);
  const transport = async () => {
    const options = await tls();
    return nodemailer.createTransport(
      {
        host: server.host.replace(/^\[|\]$/g, ""),
        port: server.port,
        secure: server.tls === "tls",
        requireTLS: server.tls === "starttls",
        ignoreTLS: server.tls === "none",
        tls: options,
        auth: { user: server.username, pass: server.password },
        // A server that asks for no name is not the one that was meant.
        forceAuth: true,
        // The machine's own name is nobody's business.
        name: "[127.0.0.1]",
        logger: false,
        disableUrlAccess: true,
        greetingTimeout: 30_000,
        socketTimeout: ANSWER_TIMEOUT_MS,
        getSocket(_: unknown, callback: (error: Error | null, socket?: object) => void) {
          openSocket(server, options).then(
            (connection) => callback(null, { connection, secured: server.tls === "tls" }),
            (error) => callback(error),
          );
        },
      } as Parameters<typeof nodemailer.createTransport>[0],
    );
  };
  return {
    send: (mail) =>
      gate.run(async () => {
        let handedOver = false;
        const sender = await transport();
        sender.use("stream", (prepared, next) => {
          prepared.message.processFunc((mail: Readable) => {
            // It ends when all of it has been read, which is done when the server asks for the mail.
            const last = new PassThrough().once("end", () => handedOver = true);
            mail.once("error", (error) => last.destroy(error));
            return mail.pipe(last);
          });
          next();
        });
        try {
          await sender.sendMail(mail as Parameters<typeof sender.sendMail>[0]);
        } catch (error) {
          throw deliveryFault(error, handedOver);
        } finally {
          sender.close();
        }
      }),
    async verify() {
      const sender = await transport();
      try {
        await sender.verify();
      } finally {
        sender.close();
      }
    },
  };
}

/** Lets so many through at once; the others wait in their order. */
class Gate {
  readonly #waiting: (() => void)[] = [];
  #free: number;

  constructor(places: number) {
    this.#free = places;
  }

  async run<T>(what: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#free -= 1;
    try {
      return await what();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
