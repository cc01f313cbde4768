/**
 * One connection of the client library.
 *
 * Invariant: a message is on the disk before its keys count as used, and before the server is told that it has
 * come. Where it cannot be kept, the connection ends, and the server gives it again to the next one.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import { Buffer } from "node:buffer";
import {
  type BinaryNode,
  Browsers,
  decodeMessageNode,
  DEFAULT_CONNECTION_CONFIG,
  type GroupMetadata,
  isJidBroadcast,
  isJidNewsletter,
  makeWASocket,
  proto,
  type SignalKeyStoreWithTransaction,
  unpadRandomMax16,
  WA_CERT_DETAILS,
  type WAMessage,
  type WASocket,
  type WAVersion,
} from "baileys";
import { silentLogger } from "../../lib/channel/platform/mod.ts";
import type { LoginStore } from "./login_store.ts";
import type { WhatsAppConfig } from "./settings.ts";

/** What a connection is made with. */
export interface WaSocketOptions {
  settings: WhatsAppConfig;
  login: LoginStore;
  /** Keeps a message. May be given one a second time. */
  hear?: (message: WAMessage) => Promise<void>;
}

/** The encryption library shows whole sessions on the console, keys too, and that is the service's log. */
export function silenceConsole(): void {
  const nothing = () => {};
  for (const name of ["debug", "error", "info", "log", "trace", "warn"] as const) {
    globalThis.console[name] = nothing;
  }
}

export function openWaSocket({ settings, login, hear }: WaSocketOptions): WASocket {
  const { url, serverKey, clientVersion } = settings;
  silenceConsole();
  if (serverKey) WA_CERT_DETAILS.PUBLIC_KEY = Buffer.from(serverKey, "hex");
  /** By what is encrypted in them. */
  const nodes = new WeakMap<object, BinaryNode>();
  const groups = new Map<string, GroupMetadata>();
  // The library goes by the asynchronous context: whatever a message sets off would write into its transaction.
  const outside = AsyncLocalStorage.snapshot();
  const keep = async (sealed: Uint8Array, padded: Uint8Array) => {
    const node = nodes.get(sealed);
    try {
      if (node !== undefined) await outside(() => hear?.(messageIn(node, padded, login)));
      return padded;
    } catch (error) {
      void socket.end(error as Error);
      throw error;
    }
  };
  const socket: WASocket = makeWASocket({
    auth: login,
    waWebSocketUrl: url.replace(/^http/, "ws"),
    ...Boolean(clientVersion) && { version: clientVersion.split(".").map(Number) as WAVersion },
    // The phone lists it under this name.
    browser: Browsers.ubuntu("Chrome"),
    // It says much, also what people have written.
    logger: silentLogger,
    // The phone of the account rings all the same.
    markOnlineOnConnect: false,
    // What was written before it was connected is nobody's business.
    syncFullHistory: false,
    shouldSyncHistoryMessage: () => false,
    emitOwnEvents: false,
    // News, stories and lists of receivers.
    shouldIgnoreJid: (jid) => isJidBroadcast(jid) || isJidNewsletter(jid),
    getMessage: ({ id }) => Promise.resolve(login.sent(id ?? "")),
    // Asked for at each message, an account is soon told to wait.
    cachedGroupMetadata: async (jid) => {
      const known = groups.get(jid) ?? await socket.groupMetadata(jid);
      groups.set(jid, known);
      return known;
    },
    makeSignalRepository(auth, logger, pnToLid) {
      const repository = DEFAULT_CONNECTION_CONFIG.makeSignalRepository(auth, logger, pnToLid);
      const keys = auth.keys as SignalKeyStoreWithTransaction;
      // As what is sent: the library reads a session that another transaction is about to write.
      const inTurn = <T>(work: () => Promise<T>) =>
        keys.transaction(work, login.creds.me?.id ?? "");
      return {
        ...repository,
        decryptMessage: (sealed) =>
          inTurn(async () =>
            await keep(sealed.ciphertext, await repository.decryptMessage(sealed))
          ),
        decryptGroupMessage: (sealed) =>
          inTurn(async () => await keep(sealed.msg, await repository.decryptGroupMessage(sealed))),
      };
    },
  });
  socket.ws.prependListener("CB:message", (node: BinaryNode) => {
    for (const { content } of Array.isArray(node.content) ? node.content : []) {
      if (content instanceof Uint8Array) nodes.set(content, node);
    }
  });
  socket.ev.on("creds.update", () => login.saveCreds());
  socket.ev.on("groups.update", (updates) => updates.forEach(({ id }) => groups.delete(id ?? "")));
  socket.ev.on("group-participants.update", ({ id }) => void groups.delete(id));
  return socket;
}

function messageIn(node: BinaryNode, padded: Uint8Array, { creds: { me } }: LoginStore): WAMessage {
  const { fullMessage } = decodeMessageNode(node, me?.id ?? "", me?.lid ?? "");
  return { ...fullMessage, message: proto.Message.decode(unpadRandomMax16(padded)) };
}
