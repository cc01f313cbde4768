/**
 * Links this program to an account, as a phone links a computer: by a QR code to scan, or by a code to type
 * on the phone of the account. It ends with a first login, so that the phone says that it is done.
 *
 * @module
 */

import { DisconnectReason, type WASocket } from "baileys";
import type { ConnectAnswer, ConnectContext, Connector } from "../../lib/channel/descriptor.ts";
import { endOf } from "./delivery_fault.ts";
import { type LoginPlace, LoginStore } from "./login_store.ts";
import type { WhatsAppConfig } from "./settings.ts";
import { openWaSocket } from "./wa_socket.ts";

/** How long a start waits for what it can show, milliseconds. */
const FIRST_CODE_MS = 20_000;

const SCAN = "On the phone: Settings, Linked devices, Link a device. Then scan this";
const TYPE = "On the phone: Settings, Linked devices, Link a device, " +
  "Link with phone number instead. Then type this";

/** One attempt. */
class Link {
  answer: ConnectAnswer = { state: "waiting", message: "WhatsApp is asked for a code" };
  ended: Promise<void> | undefined;
  readonly #settings: WhatsAppConfig;
  readonly #place: LoginPlace;
  readonly #name = LoginStore.newName();
  readonly #shown = Promise.withResolvers<void>();
  #login: LoginStore | undefined;
  #socket: WASocket | undefined;

  constructor({ values, ...place }: ConnectContext) {
    this.#settings = values as unknown as WhatsAppConfig;
    this.#place = place;
  }

  /** Resolves when there is something to show, or it failed. */
  async begin({ clock }: ConnectContext): Promise<void> {
    this.#login = await LoginStore.open(this.#place, this.#name);
    this.#open(this.#login);
    const stop = clock.after(FIRST_CODE_MS, this.#shown.resolve);
    await this.#shown.promise;
    stop();
  }

  /** The first end counts. Resolves when everything is put away. */
  async end(answer: ConnectAnswer): Promise<void> {
    if (this.answer.state === "waiting") {
      this.answer = answer;
      this.ended = this.#putAway(answer.state === "connected");
    }
    await this.ended;
  }

  async #putAway(isLinked: boolean): Promise<void> {
    this.#shown.resolve();
    await this.#socket?.end(undefined);
    this.#login?.close();
    if (!isLinked) await LoginStore.remove(this.#place.stateDir, this.#name);
  }

  #open(login: LoginStore): void {
    const socket = this.#socket = openWaSocket({ settings: this.#settings, login });
    socket.ev.on("connection.update", ({ connection, qr, lastDisconnect }) => {
      if (qr !== undefined) void this.#show(socket, qr);
      if (connection === "open") void this.#done();
      if (connection === "close") void this.#closed(login, lastDisconnect?.error);
    });
  }

  async #show(socket: WASocket, qr: string): Promise<void> {
    const { phone } = this.#settings;
    if (!phone) {
      this.answer = { state: "waiting", message: SCAN, show: { qr } };
    } else if (this.answer.show === undefined) {
      const code = await socket.requestPairingCode(phone.slice(1));
      const shown = `${code.slice(0, 4)}-${code.slice(4)}`;
      this.answer = { state: "waiting", message: TYPE, show: { code: shown } };
    }
    this.#shown.resolve();
  }

  async #done(): Promise<void> {
    const { me } = this.#login!.creds;
    const number = /^\d+/.exec(me?.id ?? "")?.[0];
    const message = `Linked to +${number}. Switch the channel on where it is off`;
    await this.end({ state: "connected", message, values: { login: this.#name } });
  }

  async #closed(login: LoginStore, error: unknown): Promise<void> {
    if (this.answer.state !== "waiting") return;
    try {
      const code = (error as { output?: { statusCode?: number } } | undefined)?.output?.statusCode;
      // Linked: the server wants to see the new device log in.
      if (code === DisconnectReason.restartRequired) return this.#open(login);
      const reason = code === DisconnectReason.timedOut && this.answer.show !== undefined
        ? "nobody used the code in time; start again"
        : endOf(error, "Start again");
      throw new Error(reason);
    } catch (failure) {
      await this.end({ state: "failed", message: `Not linked: ${(failure as Error).message}` });
    }
  }
}

let link: Link | undefined;

export const connector: Connector = {
  async handle(action, _query, context): Promise<ConnectAnswer> {
    const cancelled: ConnectAnswer = { state: "cancelled", message: "The linking was cancelled" };
    switch (action) {
      case "start":
        await link?.end(cancelled);
        link = new Link(context);
        await link.begin(context);
        break;
      case "cancel":
        await link?.end(cancelled);
        break;
    }
    await link?.ended;
    return link?.answer ?? cancelled;
  },
};
