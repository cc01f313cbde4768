/**
 * What the channel asks of a homeserver, by the client of the SDK: one request a call. Nothing is tried
 * again here, and nothing is kept: rooms and messages are the channel's own.
 *
 * @module
 */

import { ClientPrefix, MatrixClient, MediaPrefix, Method } from "matrix-js-sdk";
import { silentLogger } from "../../../lib/channel/platform/mod.ts";
import { matchMxc } from "./mxc.ts";

/** How the API is reached. */
export interface MatrixApiOptions {
  /** Base URL of the homeserver. */
  homeserver: string;
  /** Absent before a login. */
  session?: { accessToken: string; userId: string; deviceId: string };
  fetch: typeof fetch;
}

/** Plain JSON that a server has sent: nothing is known of it. */
export type Json = Readonly<Record<string, unknown>>;

/** Everything rejects as the SDK does (`matrixFault`). */
export class MatrixApi {
  readonly #options: MatrixApiOptions;
  #client: MatrixClient;

  constructor(options: MatrixApiOptions) {
    this.#options = options;
    this.#client = clientOf(options);
  }

  /** Goes on with another session of the same account. */
  renew(session: NonNullable<MatrixApiOptions["session"]>): void {
    this.#client = clientOf({ ...this.#options, session });
  }

  async whoami(): Promise<{ userId: string; deviceId: string | undefined }> {
    const { user_id, device_id } = await this.#client.whoami();
    if (typeof user_id !== "string") throw new Error("whoami names nobody");
    return { userId: user_id, deviceId: device_id };
  }

  async versions(): Promise<readonly string[]> {
    const at = "/_matrix/client/versions";
    const { http } = this.#client;
    const { versions } = await http.request<Json>(Method.Get, at, {}, undefined, { prefix: "" });
    if (!Array.isArray(versions)) throw new Error("it does not say which versions it speaks");
    return versions.filter((version) => typeof version === "string");
  }

  /** Types of logins that the server takes. */
  async loginTypes(): Promise<readonly string[]> {
    const { flows } = await this.#client.loginFlows();
    return Array.isArray(flows) ? flows.map(({ type }) => String(type)) : [];
  }

  async login(
    { user, password, deviceId, deviceName }: {
      user: string;
      password: string;
      deviceId: string | undefined;
      deviceName: string;
    },
  ): Promise<{ userId: string; deviceId: string; accessToken: string }> {
    const answer = await this.#client.login("m.login.password", {
      identifier: { type: "m.id.user", user },
      password,
      ...deviceId !== undefined && { device_id: deviceId },
      initial_device_display_name: deviceName,
    });
    const { user_id: userId, device_id, access_token: accessToken } = answer;
    if (typeof userId !== "string" || typeof accessToken !== "string") {
      throw new Error("the login has brought no token");
    }
    return { userId, deviceId: String(device_id), accessToken };
  }

  async displayName(userId: string): Promise<string | undefined> {
    const { displayname } = await this.#client.getProfileInfo(userId, "displayname");
    return typeof displayname === "string" && displayname.trim() !== "" ? displayname : undefined;
  }

  sync(
    { since, filter, timeoutMs }: {
      since: string | undefined;
      filter: Json;
      timeoutMs: number;
    },
  ): Promise<Json> {
    return this.#request(Method.Get, "/sync", {
      filter: JSON.stringify(filter),
      timeout: String(timeoutMs),
      ...since !== undefined && { since },
    });
  }

  /** A request of the client-server API v3 that needs nothing but its body. */
  ask(method: "GET" | "POST" | "PUT", path: string, body?: Json): Promise<Json> {
    return this.#request(method as Method, path, {}, body);
  }

  /** Events of a room, the newest first, from one token back to another. */
  messages(
    roomId: string,
    { from, to, limit, filter }: { from: string; to: string; limit: number; filter: Json },
  ): Promise<Json> {
    const query = { dir: "b", from, to, limit: String(limit), filter: JSON.stringify(filter) };
    return this.#request(Method.Get, path`/rooms/${roomId}/messages`, query);
  }

  event(roomId: string, eventId: string): Promise<Json> {
    return this.ask("GET", path`/rooms/${roomId}/event/${eventId}`);
  }

  /** Sends an event; the same `txnId` again is the same event. Resolves with its id. */
  async send(roomId: string, type: string, content: Json, txnId: string): Promise<string> {
    const sent = this.#client.sendEvent(roomId, type as never, content as never, txnId);
    const { event_id } = await sent;
    if (typeof event_id !== "string") throw new Error("the server names no event");
    return event_id;
  }

  async join(roomId: string): Promise<void> {
    await this.ask("POST", path`/rooms/${roomId}/join`, {});
  }

  async leave(roomId: string): Promise<void> {
    await this.#client.leave(roomId);
  }

  async typing(roomId: string, userId: string, timeoutMs: number): Promise<void> {
    const body = timeoutMs > 0 ? { typing: true, timeout: timeoutMs } : { typing: false };
    await this.ask("PUT", path`/rooms/${roomId}/typing/${userId}`, body);
  }

  async markRead(roomId: string, eventId: string, threadId: string | undefined): Promise<void> {
    const body = { thread_id: threadId ?? "main" };
    await this.ask("POST", path`/rooms/${roomId}/receipt/m.read/${eventId}`, body);
  }

  /** Resolves with the `mxc:` address of what was uploaded. */
  async upload(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): Promise<string> {
    const file = new Blob([bytes], { type });
    const { content_uri } = await this.#client.uploadContent(file, { type, name });
    if (typeof content_uri !== "string") throw new Error("the server names no address of the file");
    return content_uri;
  }

  /** Bytes that a file may have on the server; undefined where it does not say so. */
  async uploadLimit(): Promise<number | undefined> {
    const limit =
      (await this.#authenticatedMedia((isNewer) => this.#client.getMediaConfig(isNewer)))
        ?.["m.upload.size"];
    return typeof limit === "number" && limit > 0 ? limit : undefined;
  }

  async download(mxc: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { server, id } = matchMxc(mxc) ?? {};
    if (server === undefined || id === undefined) throw new Error("the file has no mxc: address");
    const file = path`/download/${server}/${id}`;
    const blob = await this.#authenticatedMedia((isNewer) => {
      const [prefix, at] = isNewer ? [ClientPrefix.V1, `/media${file}`] : [MediaPrefix.V3, file];
      const options = { prefix, rawResponseBody: true, abortSignal: signal };
      return this.#client.http.authedRequest<Blob>(Method.Get, at, {}, undefined, options);
    });
    return new Uint8Array(await blob.arrayBuffer());
  }

  /** Servers before v1.11 know the older paths alone. */
  async #authenticatedMedia<T>(ask: (isNewer: boolean) => Promise<T>): Promise<T> {
    try {
      return await ask(true);
    } catch (error) {
      const { errcode, httpStatus } = error as { errcode?: string; httpStatus?: number };
      const isUnknown = errcode === "M_UNRECOGNIZED" ||
        (errcode === undefined && httpStatus === 404);
      if (!isUnknown) throw error;
      return await ask(false);
    }
  }

  async #request(
    method: Method,
    path: string,
    query: Record<string, string> = {},
    body?: Json,
  ): Promise<Json> {
    const answer = await this.#client.http.authedRequest<unknown>(method, path, query, body);
    if (typeof answer === "object" && answer !== null) return answer as Json;
    throw new Error("it answered with no object");
  }
}

/** A path, with what stands in it encoded. */
function path(parts: TemplateStringsArray, ...values: string[]): string {
  return String.raw({ raw: parts }, ...values.map((value) => encodeURIComponent(value)));
}

function clientOf({ homeserver, session, fetch }: MatrixApiOptions): MatrixClient {
  // Not createClient: that one comes with a queue which tries events again by itself.
  return new MatrixClient({
    baseUrl: homeserver.replace(/\/+$/, ""),
    fetchFn: fetch,
    logger: silentLogger,
    disableVoip: true,
    ...session,
  });
}
