/**
 * The rooms of a homeserver in a test, and what its API says of them (client-server API v1.11: "Syncing",
 * "Lazy-loading room members", "Getting events for a room").
 *
 * @module
 */

import type { Json } from "../api/matrix_api.ts";

/** An event as a server keeps it. */
export interface FakeEvent {
  event_id: string;
  type: string;
  sender: string;
  origin_server_ts: number;
  content: Json;
  state_key?: string;
  redacts?: string;
  /** Place in the stream of everything that happens. */
  pos: number;
  roomId: string;
  /** Session and id of the request that made it. */
  transaction?: { device: string; id: string };
}

interface FakeRoom {
  state: Map<string, FakeEvent>;
  timeline: FakeEvent[];
}

/** What a client asks to be shown. */
export interface FakeFilter {
  types?: readonly string[];
  limit?: number;
}

export class FakeRooms {
  readonly rooms = new Map<string, FakeRoom>();
  /** Content of the account data `m.direct`, and where it came. */
  direct: { content: Json; pos: number } | undefined;
  #pos = 0;
  #lastId = 0;
  #woken = Promise.withResolvers<void>();
  now: () => number = () => Date.now();

  get pos(): number {
    return this.#pos;
  }

  /** Resolves as soon as something happens. */
  changed(): Promise<void> {
    return this.#woken.promise;
  }

  create(roomId: string, members: readonly string[]): void {
    this.rooms.set(roomId, { state: new Map(), timeline: [] });
    this.add(roomId, { type: "m.room.create", sender: members[0]!, state_key: "", content: {} });
    for (const user of members) this.setMember(roomId, user, "join");
  }

  setMember(roomId: string, user: string, membership: string, sender = user): FakeEvent {
    const displayname = user.slice(1).split(":")[0]!;
    return this.add(roomId, {
      type: "m.room.member",
      sender,
      state_key: user,
      content: { membership, displayname },
    });
  }

  add(
    roomId: string,
    event: Pick<FakeEvent, "type" | "sender" | "content"> & Partial<FakeEvent>,
  ): FakeEvent {
    const room = this.rooms.get(roomId)!;
    const made: FakeEvent = {
      event_id: `$event${++this.#lastId}`,
      origin_server_ts: this.now(),
      ...event,
      pos: ++this.#pos,
      roomId,
    };
    room.timeline.push(made);
    if (made.state_key !== undefined) room.state.set(`${made.type} ${made.state_key}`, made);
    this.wake();
    return made;
  }

  /** Something happens outside rooms; its place. */
  step(): number {
    this.#pos += 1;
    this.wake();
    return this.#pos;
  }

  /** From now on what is written in a room is encrypted. */
  encrypt(roomId: string, content: Json = {}): FakeEvent {
    return this.add(roomId, {
      type: "m.room.encryption",
      sender: "@alice:example.org",
      state_key: "",
      content: { algorithm: "m.megolm.v1.aes-sha2", ...content },
    });
  }

  wake(): void {
    this.#woken.resolve();
    this.#woken = Promise.withResolvers();
  }

  membership(roomId: string, user: string): string | undefined {
    const event = this.rooms.get(roomId)?.state.get(`m.room.member ${user}`);
    return event?.content.membership as string | undefined;
  }

  find(roomId: string, eventId: string): FakeEvent | undefined {
    return this.rooms.get(roomId)?.timeline.find(({ event_id }) => event_id === eventId);
  }

  setDirect(content: Json): void {
    this.direct = { content, pos: ++this.#pos };
    this.wake();
  }

  /** What has happened behind a place; undefined where that is nothing. */
  sync(
    { user, device, since, timeline, state }: {
      user: string;
      device: string;
      since: number | undefined;
      timeline: FakeFilter;
      state: FakeFilter;
    },
  ): Json | undefined {
    const from = since ?? 0;
    const join: Record<string, Json> = {};
    const invite: Record<string, Json> = {};
    const leave: Record<string, Json> = {};
    for (const [roomId, room] of this.rooms) {
      const own = room.state.get(`m.room.member ${user}`);
      const isNew = own !== undefined && own.pos > from;
      if (own?.content.membership === "join") {
        const isFull = since === undefined || isNew;
        const said = this.#joined(room, { device, from, isFull, timeline, state });
        if (said !== undefined) join[roomId] = said;
      } else if (own?.content.membership === "invite" && isNew) {
        const events = [...room.state.values()].map(({ type, sender, state_key, content }) => ({
          type,
          sender,
          state_key,
          content,
        }));
        invite[roomId] = { invite_state: { events } };
      } else if (own !== undefined && isNew && since !== undefined) leave[roomId] = {};
    }
    const direct = this.direct !== undefined && this.direct.pos > from ? this.direct : undefined;
    const isEmpty = [join, invite, leave].every((rooms) => Object.keys(rooms).length === 0) &&
      direct === undefined;
    if (isEmpty && since !== undefined) return undefined;
    return {
      next_batch: `s${this.#pos}`,
      rooms: { join, invite, leave },
      ...direct && {
        account_data: { events: [{ type: "m.direct", content: direct.content }] },
      },
    };
  }

  /** A page of `/messages` backwards. */
  messages(
    roomId: string,
    { from, to, limit, types, device }: {
      from: number;
      to: number;
      limit: number;
      types: readonly string[] | undefined;
      device: string;
    },
  ): Json {
    const all = this.rooms.get(roomId)!.timeline
      .filter(({ type, pos }) => pos <= from && pos > to && (types?.includes(type) ?? true))
      .reverse();
    const chunk = all.slice(0, limit);
    return {
      start: `s${from}`,
      chunk: chunk.map((event) => shown(event, device)),
      ...all.length > limit && { end: `s${chunk.at(-1)!.pos - 1}` },
    };
  }

  #joined(
    room: FakeRoom,
    { device, from, isFull, timeline, state }: {
      device: string;
      from: number;
      isFull: boolean;
      timeline: FakeFilter;
      state: FakeFilter;
    },
  ): Json | undefined {
    const wanted = room.timeline.filter(({ type, pos }) =>
      (isFull || pos > from) && (timeline.types?.includes(type) ?? true)
    );
    if (wanted.length === 0 && !isFull) return undefined;
    const limit = timeline.limit ?? 10;
    const events = wanted.slice(-limit);
    const first = events[0]?.pos ?? this.#pos + 1;
    const senders = new Set(events.map(({ sender }) => sender));
    const before = [...room.state.values()].filter(({ type, state_key, pos }) =>
      (state.types?.includes(type) ?? true) && pos < first && (isFull || pos > from ||
        (type === "m.room.member" && senders.has(state_key!)))
    );
    const count = (membership: string) =>
      [...room.state.values()].filter(({ type, content }) =>
        type === "m.room.member" && content.membership === membership
      ).length;
    return {
      summary: {
        "m.joined_member_count": count("join"),
        "m.invited_member_count": count("invite"),
      },
      state: { events: before.map((event) => shown(event, device)) },
      timeline: {
        events: events.map((event) => shown(event, device)),
        limited: wanted.length > limit,
        prev_batch: `s${first - 1}`,
      },
    };
  }
}

/** As a session sees it: its own transactions alone. */
export function shown(event: FakeEvent, device: string): Json {
  const { pos: _, roomId, transaction, ...rest } = event;
  const isOwn = transaction?.device === device;
  return {
    ...rest,
    room_id: roomId,
    unsigned: { age: 1, ...isOwn && { transaction_id: transaction.id } },
  };
}
