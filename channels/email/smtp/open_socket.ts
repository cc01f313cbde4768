/**
 * Opens the connection to an SMTP server by its very name: a worker may reach that name and port, and may
 * ask no name server for an address.
 *
 * @module
 */

import net from "node:net";
import tls from "node:tls";
import type { MailServer } from "../account/settings.ts";
import type { TlsOptions } from "../account/tls_options.ts";

const CONNECT_TIMEOUT_MS = 30_000;

/** A connection that is open, with TLS where the server has it from the first byte. */
export function openSocket(
  { host, port, tls: mode }: Pick<MailServer, "host" | "port" | "tls">,
  options: TlsOptions,
): Promise<net.Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<net.Socket>();
  const plain = host.replace(/^\[|\]$/g, "");
  const socket = mode === "tls"
    ? tls.connect({
      ...options,
      host: plain,
      port,
      ...net.isIP(plain) === 0 && { servername: plain },
    })
    : net.connect({ host: plain, port });
  const timer = setTimeout(() => {
    const seconds = CONNECT_TIMEOUT_MS / 1_000;
    const error = new Error(`The SMTP server did not take a connection within ${seconds} s`);
    // As the system says it of a connection that it gives up.
    fail(Object.assign(error, { code: "ETIMEDOUT", syscall: "connect" }));
  }, CONNECT_TIMEOUT_MS);
  const done = () => {
    clearTimeout(timer);
    socket.off("error", fail);
  };
  function fail(error: Error) {
    done();
    // Whatever comes after it is of no interest.
    socket.on("error", () => {});
    socket.destroy();
    reject(error);
  }
  socket.once("error", fail);
  socket.once(mode === "tls" ? "secureConnect" : "connect", () => {
    done();
    resolve(socket);
  });
  return promise;
}
