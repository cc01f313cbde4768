/**
 * The routes of the client-server API v1.11, of a homeserver in a test.
 *
 * @module
 */

import type { Json } from "../api/matrix_api.ts";
import { FakeKeys } from "./fake_keys.ts";
import { type FakeFilter, type FakeRooms, shown } from "./fake_rooms.ts";

/** A request. */
export interface FakeCall {
  method: string;
  path: string;
  query: URLSearchParams;
  token: string | undefined;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  /** When it came, for limits. */
  atMs: number;
}

/** What it is answered with. */
export interface FakeAnswer {
  status: number;
  body?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
}

interface FakeFile {
  bytes: Uint8Array<ArrayBuffer>;
  type: string;
  name: string;
}

type Route = (call: FakeCall, parts: readonly string[], signal: AbortSignal) =>
  | FakeAnswer
  | Promise<FakeAnswer>;

const MAX_EVENT_BYTES = 65_536;

export class FakeApi {
  readonly #rooms: FakeRooms;
  readonly #me: string;
  /** Keys of sessions. */
  readonly keys: FakeKeys;
  /** Devices of the account by their tokens. */
  readonly tokens = new Map([["syt_the_token_of_the_helper", "HELPERDEV"]]);
  password = "correct horse";
  loginTypes: readonly string[] = ["m.login.password"];
  displayName = "Helper";
  files = new Map<string, FakeFile>();
  maxUploadBytes = 1024 * 1024;
  /** Whether it knows the media routes of v1.11. */
  hasNewMedia = true;
  /** A place in the stream that it knows no more. */
  lostSince: string | undefined;
  /** Rooms in which the account is shown as typing. */
  readonly typing = new Set<string>();
  readonly #sent = new Map<string, string>();
  #revoked: { soft: boolean } | undefined;
  #lastDevice = 0;
  readonly #routes: readonly (readonly [string, RegExp, Route])[];

  constructor(rooms: FakeRooms, me: string) {
    this.#rooms = rooms;
    this.#me = me;
    const keys = this.keys = new FakeKeys(rooms);
    const v3 = (path: string) => new RegExp(`^/_matrix/client/v3${path}$`);
    const room = "/rooms/([^/]+)";
    this.#routes = [
      ["GET", v3("/account/whoami"), (call) => this.#whoami(call)],
      ["GET", v3("/sync"), (call, _, signal) => this.#sync(call, signal)],
      ["PUT", v3(`${room}/send/([^/]+)/([^/]+)`), (call, parts) => this.#send(call, parts)],
      ["GET", v3(`${room}/messages`), (call, [roomId]) => this.#messages(call, roomId!)],
      ["GET", v3(`${room}/event/([^/]+)`), (call, parts) => this.#event(call, parts)],
      ["GET", v3(`${room}/members`), (_, [roomId]) => this.#members(roomId!)],
      ["POST", v3("/keys/upload"), (call) => ok(keys.upload(me, this.#device(call), json(call)))],
      ["POST", v3("/keys/query"), (call) => ok(keys.query(json(call)))],
      ["POST", v3("/keys/claim"), (call) => ok(keys.claim(json(call)))],
      ["POST", v3("/keys/signatures/upload"), (call) => ok(keys.sign(json(call)))],
      ["POST", v3("/keys/device_signing/upload"), (call) => this.#uploadSigning(call)],
      ["PUT", v3("/sendToDevice/([^/]+)/([^/]+)"), (call, parts) => this.#toDevice(call, parts)],
      ["POST", v3(`${room}/join`), (_, [roomId]) => this.#move(roomId!, "join")],
      ["POST", v3(`${room}/leave`), (_, [roomId]) => this.#move(roomId!, "leave")],
      ["POST", v3(`${room}/receipt/m\\.read/([^/]+)`), () => ok({})],
      ["PUT", v3(`${room}/typing/([^/]+)`), (call, [roomId]) => this.#type(call, roomId!)],
      ["GET", v3("/profile/([^/]+)/displayname"), () => ok({ displayname: this.displayName })],
      ["POST", /^\/_matrix\/media\/v3\/upload$/, (call) => this.#upload(call)],
      ["GET", /^\/_matrix\/client\/v1\/media\/config$/, () => this.#config(true)],
      ["GET", /^\/_matrix\/media\/v3\/config$/, () => this.#config(false)],
      [
        "GET",
        /^\/_matrix\/client\/v1\/media\/download\/([^/]+)\/([^/]+)$/,
        (_, parts) => this.hasNewMedia ? this.#download(parts) : UNRECOGNIZED,
      ],
      [
        "GET",
        /^\/_matrix\/media\/v3\/download\/([^/]+)\/([^/]+)$/,
        (_, parts) => this.#download(parts),
      ],
    ];
  }

  /** Every session is known no more; `soft`: the same device may log in again. */
  revoke(soft: boolean): void {
    this.#revoked = { soft };
    this.tokens.clear();
  }

  async answer(call: FakeCall, signal: AbortSignal): Promise<FakeAnswer> {
    const { method, path } = call;
    if (path === "/_matrix/client/versions") return ok({ versions: ["v1.1", "v1.7", "v1.11"] });
    if (path === "/_matrix/client/v3/login") return this.#login(call);
    const isKnown = call.token !== undefined && this.tokens.has(call.token);
    if (!isKnown) return this.#unknownToken(call);
    for (const [verb, pattern, route] of this.#routes) {
      const match = verb === method ? pattern.exec(path) : null;
      if (match === null) continue;
      return await route(call, match.slice(1).map(decodeURIComponent), signal);
    }
    return UNRECOGNIZED;
  }

  #unknownToken({ token }: FakeCall): FakeAnswer {
    if (token === undefined) return fault(401, "M_MISSING_TOKEN", "Missing access token");
    // Servers there are that repeat what they were given.
    const answer = fault(401, "M_UNKNOWN_TOKEN", `Unrecognised access token ${token}`);
    return {
      ...answer,
      body: { ...answer.body as Json, soft_logout: this.#revoked?.soft === true },
    };
  }

  #login(call: FakeCall): FakeAnswer {
    if (call.method === "GET") return ok({ flows: this.loginTypes.map((type) => ({ type })) });
    const { type, password, device_id, identifier } = json(call);
    if (!this.loginTypes.includes(String(type))) {
      return fault(400, "M_UNKNOWN", `Unknown login type ${type}`);
    }
    const { user } = identifier as { user: string };
    const isMe = user === this.#me || `@${user}:example.org` === this.#me;
    if (!isMe || password !== this.password) {
      return fault(403, "M_FORBIDDEN", `Invalid username or password (${password})`);
    }
    const device = String(device_id ?? `DEVICE${++this.#lastDevice}`);
    for (const [token, other] of this.tokens) if (other === device) this.tokens.delete(token);
    const token = `syt_made_${crypto.randomUUID()}`;
    this.tokens.set(token, device);
    return ok({ user_id: this.#me, device_id: device, access_token: token });
  }

  #whoami(call: FakeCall): FakeAnswer {
    return ok({ user_id: this.#me, device_id: this.#device(call) });
  }

  async #sync(call: FakeCall, signal: AbortSignal): Promise<FakeAnswer> {
    const { query } = call;
    const given = query.get("since");
    if (given !== null && (given === this.lostSince || !/^s\d+$/.test(given))) {
      return fault(400, "M_UNKNOWN", "Invalid stream token");
    }
    const { room } = JSON.parse(query.get("filter")!) as {
      room: { timeline: FakeFilter; state: FakeFilter };
    };
    const since = given === null ? undefined : Number(given.slice(1));
    const end = performance.now() + Number(query.get("timeout") ?? 0);
    for (;;) {
      const device = this.#device(call);
      if (!this.tokens.has(call.token!)) return this.#unknownToken(call);
      const news = this.keys.news(this.#me, device, since);
      const answer = this.#rooms.sync({ user: this.#me, device, since, ...room }) ??
        (news && { next_batch: `s${this.#rooms.pos}` });
      if (answer !== undefined) {
        return ok({ ...answer, ...news ?? this.keys.told(this.#me, device) });
      }
      const leftMs = end - performance.now();
      if (leftMs <= 0 || signal.aborted) return ok({ next_batch: given });
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, leftMs);
        const wake = () => {
          clearTimeout(timer);
          resolve();
        };
        void this.#rooms.changed().then(wake);
        signal.addEventListener("abort", wake, { once: true });
      });
    }
  }

  #send(call: FakeCall, [roomId, type, txnId]: readonly string[]): FakeAnswer {
    const device = this.#device(call);
    const key = `${device} ${roomId} ${type} ${txnId}`;
    const known = this.#sent.get(key);
    if (known !== undefined) return ok({ event_id: known });
    if (this.#rooms.membership(roomId!, this.#me) !== "join") {
      return fault(403, "M_FORBIDDEN", `User ${this.#me} not in room ${roomId}`);
    }
    // The content, and what every event has around it.
    if (call.bytes.length > MAX_EVENT_BYTES - 1_500) {
      return fault(413, "M_TOO_LARGE", "event too large");
    }
    const { event_id } = this.#rooms.add(roomId!, {
      type: type!,
      sender: this.#me,
      content: json(call),
      transaction: { device, id: txnId! },
    });
    this.#sent.set(key, event_id);
    return ok({ event_id });
  }

  #members(roomId: string): FakeAnswer {
    const { state } = this.#rooms.rooms.get(roomId)!;
    return ok({ chunk: [...state.values()].filter(({ type }) => type === "m.room.member") });
  }

  #uploadSigning(call: FakeCall): FakeAnswer {
    const answer = this.keys.uploadSigning(this.#me, json(call));
    const flows = [{ stages: ["m.login.password"] }];
    return answer === undefined
      ? { status: 401, body: { session: "s", flows, params: {} } }
      : ok(answer);
  }

  #toDevice(call: FakeCall, [type, txnId]: readonly string[]): FakeAnswer {
    const key = `${this.#device(call)} ${type} ${txnId}`;
    if (this.#sent.has(key)) return ok({});
    this.#sent.set(key, "");
    return ok(this.keys.send(this.#me, type!, json(call)));
  }

  #messages(call: FakeCall, roomId: string): FakeAnswer {
    const { query } = call;
    const place = (name: string) => Number((query.get(name) ?? "s0").slice(1));
    const { types } = JSON.parse(query.get("filter") ?? "{}") as FakeFilter;
    const limit = Number(query.get("limit") ?? 10);
    const device = this.#device(call);
    const asked = { from: place("from"), to: place("to"), limit, types, device };
    return ok(this.#rooms.messages(roomId, asked));
  }

  #event(call: FakeCall, [roomId, eventId]: readonly string[]): FakeAnswer {
    const event = this.#rooms.find(roomId!, eventId!);
    return event
      ? ok(shown(event, this.#device(call)))
      : fault(404, "M_NOT_FOUND", "Event not found");
  }

  #move(roomId: string, membership: "join" | "leave"): FakeAnswer {
    const now = this.#rooms.membership(roomId, this.#me);
    if (now !== "invite" && now !== "join") {
      return fault(403, "M_FORBIDDEN", "You are not invited to this room.");
    }
    this.#rooms.setMember(roomId, this.#me, membership);
    return ok({ room_id: roomId });
  }

  #type(call: FakeCall, roomId: string): FakeAnswer {
    if (json(call).typing === true) this.typing.add(roomId);
    else this.typing.delete(roomId);
    return ok({});
  }

  #upload(call: FakeCall): FakeAnswer {
    if (call.bytes.length > this.maxUploadBytes) {
      return fault(413, "M_TOO_LARGE", "Upload request body is too large");
    }
    const id = `media${this.files.size + 1}`;
    const name = call.query.get("filename") ?? "";
    this.files.set(id, { bytes: call.bytes, type: call.type, name });
    return ok({ content_uri: `mxc://example.org/${id}` });
  }

  #config(isNew: boolean): FakeAnswer {
    if (isNew && !this.hasNewMedia) return UNRECOGNIZED;
    return ok({ "m.upload.size": this.maxUploadBytes });
  }

  #download([server, id]: readonly string[]): FakeAnswer {
    const file = server === "example.org" ? this.files.get(id!) : undefined;
    if (file === undefined) return fault(404, "M_NOT_FOUND", "Not found");
    return { status: 200, raw: file.bytes, headers: { "content-type": file.type } };
  }

  #device({ token }: FakeCall): string {
    return this.tokens.get(token!) ?? "";
  }
}

/** An error of the API. */
export function fault(status: number, errcode: string, error: string): FakeAnswer {
  return { status, body: { errcode, error } };
}

const UNRECOGNIZED = fault(404, "M_UNRECOGNIZED", "Unrecognized request");

function ok(body: unknown): FakeAnswer {
  return { status: 200, body };
}

function json({ bytes }: FakeCall): Json {
  return JSON.parse(new TextDecoder().decode(bytes)) as Json;
}
