/**
 * An answer of `/sync`, looked at before it is believed: what a server has wrong is left out, and the rest
 * goes on.
 *
 * @module
 */

import type { Json } from "../api/matrix_api.ts";

/** An event of a room, of the parts that every event has. */
export interface MatrixEvent {
  eventId: string;
  type: string;
  sender: string;
  /** Milliseconds since 1970, by the clock of the sender's server. */
  sentAt: number | undefined;
  stateKey: string | undefined;
  content: Json;
  unsigned: Json;
  /** Event whose content somebody has taken away, of an `m.room.redaction`. */
  redacts?: string;
}

/** A room that the account is in. */
export interface JoinedRoom {
  roomId: string;
  /** Before the timeline. */
  state: MatrixEvent[];
  timeline: MatrixEvent[];
  /** More has happened than there is in the timeline. */
  isLimited: boolean;
  prevBatch: string | undefined;
  summary: Json;
}

/** A room that somebody has invited the account to. */
export interface InvitedRoom {
  roomId: string;
  events: readonly Json[];
}

export interface SyncAnswer {
  nextBatch: string;
  /** Messages from sessions to this one. */
  toDevice: readonly Json[];
  /** People whose sessions are others now, and with whom no room is shared any more. */
  devices: { changed: string[]; left: string[] };
  /** One-time keys of this session that the server has, by algorithm. */
  keyCounts: Readonly<Record<string, number>>;
  /** Algorithms whose fallback key is unused; undefined where the server does not say. */
  fallbackKeys: string[] | undefined;
  joined: JoinedRoom[];
  invited: InvitedRoom[];
  left: string[];
  /** Content of `m.direct`, where it came. */
  direct: Json | undefined;
}

/** Throws where it says not even how to go on. */
export function readSyncAnswer(answer: Json): SyncAnswer {
  const { next_batch: nextBatch } = answer;
  if (typeof nextBatch !== "string" || nextBatch === "") {
    throw new Error("it answered a sync without next_batch");
  }
  const rooms = record(answer.rooms);
  const devices = record(answer.device_lists);
  const counts = Object.entries(record(answer.device_one_time_keys_count));
  const unused = answer.device_unused_fallback_key_types;
  const ofRooms = (kind: string) => Object.entries(record(rooms[kind])).filter(isOfRoom);
  return {
    nextBatch,
    toDevice: list(record(answer.to_device).events).map(record)
      .filter(({ type, sender }) => typeof type === "string" && typeof sender === "string"),
    devices: { changed: texts(devices.changed), left: texts(devices.left) },
    keyCounts: Object.fromEntries(
      counts.filter((count): count is [string, number] => Number.isSafeInteger(count[1])),
    ),
    fallbackKeys: Array.isArray(unused) ? texts(unused) : undefined,
    joined: ofRooms("join").map(([roomId, room]) => readJoined(roomId, record(room))),
    invited: ofRooms("invite").map(([roomId, room]) => ({
      roomId,
      events: list(record(record(room).invite_state).events).map(record),
    })),
    left: ofRooms("leave").map(([roomId]) => roomId),
    direct: list(record(answer.account_data).events).map(record)
      .filter(({ type }) => type === "m.direct").map(({ content }) => record(content)).at(-1),
  };
}

/** Before this the service takes no message to be written. */
const FIRST_SENT_AT = Date.UTC(2000, 0, 1);

/** An event; undefined for what is none. */
export function readMatrixEvent(value: unknown): MatrixEvent | undefined {
  const { event_id, type, sender, origin_server_ts, state_key, content, unsigned, redacts } =
    record(value);
  if (typeof event_id !== "string" || !isId(event_id)) return undefined;
  if (typeof type !== "string" || typeof sender !== "string" || !isId(sender)) return undefined;
  return {
    eventId: event_id,
    type,
    sender,
    // Any server of the federation says what it likes: a time that nobody believes is a very old one.
    sentAt: Number.isSafeInteger(origin_server_ts)
      ? Math.max(origin_server_ts as number, FIRST_SENT_AT)
      : undefined,
    stateKey: typeof state_key === "string" ? state_key : undefined,
    content: record(content),
    unsigned: record(unsigned),
    // In its content from version 11 of rooms on.
    ...type === "m.room.redaction" && { redacts: String(record(content).redacts ?? redacts) },
  };
}

/** An object of JSON; an empty one for anything else. */
export function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

/** A list of JSON; an empty one for anything else. */
export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function texts(value: unknown): string[] {
  return list(value).filter((text) => typeof text === "string");
}

function readJoined(roomId: string, room: Json): JoinedRoom {
  const timeline = record(room.timeline);
  const { prev_batch: prevBatch } = timeline;
  return {
    roomId,
    state: events(record(room.state).events),
    timeline: events(timeline.events),
    isLimited: timeline.limited === true,
    prevBatch: typeof prevBatch === "string" ? prevBatch : undefined,
    summary: record(room.summary),
  };
}

/** Those of a list that are events. */
export function events(value: unknown): MatrixEvent[] {
  return list(value).map(readMatrixEvent).filter((event) => event !== undefined);
}

function isOfRoom([roomId]: [string, unknown]): boolean {
  return roomId.startsWith("!") && isId(roomId);
}

/** Ids have at most 255 bytes, and nothing in them that nobody sees. */
export function isId(text: string): boolean {
  return text.length <= 255 && /^[!@$][^\s\p{Cc}\p{Cf}\p{Cs}]+$/u.test(text);
}
