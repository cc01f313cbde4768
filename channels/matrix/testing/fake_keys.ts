/**
 * What a homeserver in a test keeps of the keys of sessions (client-server API v1.11, "End-to-End Encryption"):
 * it is given public keys, hands one-time keys out once, and carries messages from session to session.
 *
 * @module
 */

import type { Json } from "../api/matrix_api.ts";
import type { FakeRooms } from "./fake_rooms.ts";

/** A message to one session. */
interface ToDevice {
  pos: number;
  event: Json;
}

interface FakeDevice {
  keys: Json | undefined;
  oneTime: [id: string, key: unknown][];
  fallback: [id: string, key: unknown][];
  waiting: ToDevice[];
}

export class FakeKeys {
  readonly #rooms: FakeRooms;
  readonly #devices = new Map<string, FakeDevice>();
  /** Keys of accounts, by kind and account. */
  readonly #accounts = new Map<string, Json>();
  /** Where the sessions of an account have changed last. */
  readonly #changed = new Map<string, number>();
  /** The account's own signatures are taken with a password alone. */
  needsProof = false;
  password = "correct horse";

  constructor(rooms: FakeRooms) {
    this.#rooms = rooms;
  }

  upload(user: string, device: string, body: Json): Json {
    const known = this.#device(user, device);
    if (body.device_keys !== undefined) {
      known.keys = body.device_keys as Json;
      this.#change(user);
    }
    known.oneTime.push(...Object.entries((body.one_time_keys ?? {}) as Json));
    known.fallback.push(...Object.entries((body.fallback_keys ?? {}) as Json));
    return { one_time_key_counts: this.#counts(known) };
  }

  query(body: Json): Json {
    const users = Object.keys(body.device_keys as Json);
    const devices = users.map((user) => {
      const all = [...this.#devices].filter(([name, { keys }]) =>
        name.startsWith(`${user} `) && keys !== undefined
      );
      return [user, Object.fromEntries(all.map(([name, { keys }]) => [name.split(" ")[1], keys]))];
    });
    const ofAccounts = (kind: string) =>
      Object.fromEntries(users.flatMap((user) => {
        const key = this.#accounts.get(`${kind} ${user}`);
        return key === undefined ? [] : [[user, key]];
      }));
    return {
      device_keys: Object.fromEntries(devices),
      master_keys: ofAccounts("master_key"),
      self_signing_keys: ofAccounts("self_signing_key"),
      user_signing_keys: ofAccounts("user_signing_key"),
      failures: {},
    };
  }

  claim(body: Json): Json {
    const asked = Object.entries(body.one_time_keys as Record<string, Record<string, string>>);
    const given = asked.map(([user, devices]) => [
      user,
      Object.fromEntries(
        Object.keys(devices).map((device) => {
          const known = this.#device(user, device);
          const key = known.oneTime.shift() ?? known.fallback.at(-1);
          return [device, key === undefined ? {} : { [key[0]]: key[1] }];
        }),
      ),
    ]);
    return { one_time_keys: Object.fromEntries(given), failures: {} };
  }

  /** Keys of the account; undefined: it wants a proof first. */
  uploadSigning(user: string, body: Json): Json | undefined {
    const { auth, ...keys } = body;
    if (this.needsProof && (auth as Json | undefined)?.password !== this.password) return undefined;
    for (const [kind, key] of Object.entries(keys)) {
      this.#accounts.set(`${kind} ${user}`, key as Json);
    }
    this.#change(user);
    return {};
  }

  /** Signatures of sessions and of accounts' keys. */
  sign(body: Json): Json {
    for (const [user, signed] of Object.entries(body as Record<string, Record<string, Json>>)) {
      for (const [id, object] of Object.entries(signed)) {
        const device = this.#devices.get(`${user} ${id}`);
        const master = this.#accounts.get(`master_key ${user}`);
        if (device?.keys !== undefined) device.keys = withSignatures(device.keys, object);
        else if (master !== undefined && Object.keys(master.keys as Json)[0]?.endsWith(id)) {
          this.#accounts.set(`master_key ${user}`, withSignatures(master, object));
        }
      }
      this.#change(user);
    }
    return { failures: {} };
  }

  send(sender: string, type: string, body: Json): Json {
    const messages = body.messages as Record<string, Record<string, Json>>;
    for (const [user, devices] of Object.entries(messages)) {
      for (const [device, content] of Object.entries(devices)) {
        const pos = this.#rooms.step();
        const all = device === "*"
          ? [...this.#devices.keys()].filter((name) => name.startsWith(`${user} `))
          : [`${user} ${device}`];
        for (const name of all) {
          this.#devices.get(name)?.waiting.push({ pos, event: { type, sender, content } });
        }
      }
    }
    return {};
  }

  /** What a sync says of them; undefined where there is nothing new. */
  news(user: string, device: string, since: number | undefined): Json | undefined {
    const known = this.#device(user, device);
    // Whoever goes on from a place has what came before it.
    if (since !== undefined) known.waiting = known.waiting.filter(({ pos }) => pos > since);
    const changed = [...this.#changed].filter(([, pos]) => since !== undefined && pos > since)
      .map(([who]) => who);
    if (known.waiting.length === 0 && changed.length === 0 && since !== undefined) return undefined;
    return { ...this.told(user, device, known.waiting), device_lists: { changed, left: [] } };
  }

  /** What each answer of a sync says. */
  told(user: string, device: string, waiting: readonly ToDevice[] = []): Json {
    const known = this.#device(user, device);
    return {
      to_device: { events: waiting.map(({ event }) => event) },
      device_one_time_keys_count: this.#counts(known),
      device_unused_fallback_key_types: known.fallback.length > 0 ? ["signed_curve25519"] : [],
    };
  }

  /** Forgets the keys of a session, as when it is signed out. */
  forget(user: string, device: string): void {
    this.#devices.delete(`${user} ${device}`);
    this.#change(user);
  }

  #device(user: string, device: string): FakeDevice {
    const name = `${user} ${device}`;
    const made = this.#devices.get(name) ??
      { keys: undefined, oneTime: [], fallback: [], waiting: [] };
    this.#devices.set(name, made);
    return made;
  }

  #counts({ oneTime }: FakeDevice): Json {
    return { signed_curve25519: oneTime.length };
  }

  #change(user: string): void {
    this.#changed.set(user, this.#rooms.step());
  }
}

function withSignatures(kept: Json, given: Json): Json {
  const all = kept.signatures as Record<string, Json> | undefined;
  const more = given.signatures as Record<string, Json> | undefined;
  const signatures = { ...all };
  for (const [user, signed] of Object.entries(more ?? {})) {
    signatures[user] = { ...signatures[user], ...signed };
  }
  return { ...kept, signatures };
}
