import type { XmppEntity } from "./xmpp_library.ts";
import type { XmppSocket } from "./xmpp_socket.ts";

/** Has the library talk over this socket, instead of those that it would open itself. */
export function useSocket(entity: XmppEntity, socket: XmppSocket): void {
  const { transports } = entity;
  const Tcp = transports.find(({ prototype }) => {
    try {
      return prototype.socketParameters("xmpp://server") !== undefined;
    } catch {
      // That of WebSockets wants an address of its own kind.
      return false;
    }
  }) as unknown as new () => object;
  class Transport extends Tcp {}
  Object.assign(Transport.prototype, {
    socketParameters: () => ({}),
    Socket: function () {
      return socket;
    },
  });
  transports.splice(0, transports.length, Transport as never);
}
