/**
 * What the channel asks of a homeserver, by the client of the SDK: one request a call. Nothing is tried
 * again here, and nothing is kept: rooms and messages are the channel's own.
 *
 * @module
 */

import { MatrixClient, Method } from "matrix-js-sdk";
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

const CLIENT_V1 = "/_matrix/client/v1";
const MEDIA_V3 = "/_matrix/media/v3";

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
    const { versions } = await this.#client.http.request<Json>(
      Method.Get,
      "/_matrix/client/versions",
      undefined,
      undefined,
      { prefix: "" },
    );
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
    return this.#request(Method.Get, `/rooms/${encodeURIComponent(roomId)}/messages`, {
      dir: "b",
      from,
      to,
      limit: String(limit),
      filter: JSON.stringify(filter),
    });
  }

  event(roomId: string, eventId: string): Promise<Json> {
    return this.#request(
      Method.Get,
      `/rooms/${encodeURIComponent(roomId)}/event/${encodeURIComponent(eventId)}`,
    );
  }

  /** Sends an event; the same `txnId` again is the same event. Resolves with its id. */
  async send(roomId: string, type: string, content: Json, txnId: string): Promise<string> {
    const { event_id } = await this.#client.sendEvent(
      roomId,
      type as never,
      content as never,
      txnId,
    );
    if (typeof event_id !== "string") throw new Error("the server names no event");
    return event_id;
  }

  async join(roomId: string): Promise<void> {
    await this.#request(Method.Post, `/rooms/${encodeURIComponent(roomId)}/join`, {}, {});
  }

  async leave(roomId: string): Promise<void> {
    await this.#client.leave(roomId);
  }

  async typing(roomId: string, userId: string, timeoutMs: number): Promise<void> {
    const path = `/rooms/${encodeURIComponent(roomId)}/typing/${encodeURIComponent(userId)}`;
    const body = timeoutMs > 0 ? { typing: true, timeout: timeoutMs } : { typing: false };
    await this.#request(Method.Put, path, {}, body);
  }

  async markRead(roomId: string, eventId: string, threadId: string | undefined): Promise<void> {
    const path = `/rooms/${encodeURIComponent(roomId)}/receipt/m.read/${
      encodeURIComponent(eventId)
    }`;
    await this.#request(Method.Post, path, {}, { thread_id: threadId ?? "main" });
  }

  /** Resolves with the `mxc:` address of what was uploaded. */
  async upload(bytes: Uint8Array<ArrayBuffer>, type: string, name: string): Promise<string> {
    const { content_uri } = await this.#client.uploadContent(new Blob([bytes], { type }), {
      type,
      name,
    });
    if (typeof content_uri !== "string") throw new Error("the server names no address of the file");
    return content_uri;
  }

  /** Bytes that a file may have on the server; undefined where it does not say so. */
  async uploadLimit(): Promise<number | undefined> {
    const answer = await this.#authenticatedMedia((prefix) =>
      this.#request(Method.Get, prefix === CLIENT_V1 ? "/media/config" : "/config", {}, undefined, {
        prefix,
      })
    );
    const limit = answer["m.upload.size"];
    return typeof limit === "number" && limit > 0 ? limit : undefined;
  }

  async download(mxc: string, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const { server, id } = matchMxc(mxc) ?? {};
    if (server === undefined || id === undefined) throw new Error("the file has no mxc: address");
    const file = `/download/${encodeURIComponent(server)}/${encodeURIComponent(id)}`;
    const blob = await this.#authenticatedMedia((prefix) =>
      this.#client.http.authedRequest<Blob>(
        Method.Get,
        prefix === CLIENT_V1 ? `/media${file}` : file,
        {},
        undefined,
        { prefix, rawResponseBody: true, abortSignal: signal },
      )
    );
    return new Uint8Array(await blob.arrayBuffer());
  }

  /** Servers before v1.11 know the older paths alone. */
  async #authenticatedMedia<T>(ask: (prefix: string) => Promise<T>): Promise<T> {
    try {
      return await ask(CLIENT_V1);
    } catch (error) {
      const { errcode, httpStatus } = error as { errcode?: string; httpStatus?: number };
      const isUnknown = errcode === "M_UNRECOGNIZED" ||
        (errcode === undefined && httpStatus === 404);
      if (!isUnknown) throw error;
      return await ask(MEDIA_V3);
    }
  }

  async #request(
    method: Method,
    path: string,
    query: Record<string, string> = {},
    body?: Json,
    options: { prefix?: string } = {},
  ): Promise<Json> {
    const answer = await this.#client.http.authedRequest<unknown>(
      method,
      path,
      query,
      body,
      options,
    );
    if (typeof answer !== "object" || answer === null) {
      throw new Error("it answered with no object");
    }
    return answer as Json;
  }
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
