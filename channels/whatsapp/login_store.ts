/**
 * A login of WhatsApp: the keys that make this program a device of an account, in a SQLite file of the
 * channel's folder.
 *
 * Invariants:
 * - What is changed together is written in one transaction, and is on the disk before the client goes on:
 *   a message key that was used is never used again, whatever ends the process.
 * - Every value is sealed (AES-256-GCM) with a key that follows from that of the home's secrets, and whose it
 *   is stands nowhere. The folder alone lets nobody in, and names nobody.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import {
  aesDecryptGCM,
  aesEncryptGCM,
  type AuthenticationCreds,
  BufferJSON,
  hmacSign,
  initAuthCreds,
  proto,
  type SignalDataSet,
  type SignalDataTypeMap,
  type SignalKeyStore,
} from "baileys";
import type { Migration } from "../../lib/base/migrate.ts";
import type { ChannelHost } from "../../lib/channel/channel_host.ts";
import { LoginRefusedError } from "../../lib/channel/delivery_error.ts";
import { inTransaction, openStateDatabase } from "../../lib/channel/platform/mod.ts";

const MIGRATIONS: readonly Migration[] = [{
  version: 1,
  name: "initial",
  sql: `
    CREATE TABLE entries (
      seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, name BLOB NOT NULL UNIQUE,
      value BLOB NOT NULL
    ) STRICT;
  `,
}];

/** Messages of ours that can be sent again to a device that could not read them. */
const MAX_SENT = 1_000;

const IV_BYTES = 12;

/** Files of logins, with what SQLite keeps beside them. */
const FILE = /^login_[0-9a-f]{16}\.sqlite/;

/** Where logins lie. */
export type LoginPlace = Pick<ChannelHost, "stateDir" | "stateKey">;

export class LoginStore {
  /** What the client changes as it goes; `saveCreds` writes it. */
  readonly creds: AuthenticationCreds;
  readonly keys: SignalKeyStore = {
    get: <Kind extends keyof SignalDataTypeMap>(kind: Kind, ids: string[]) => {
      const found: Record<string, SignalDataTypeMap[Kind]> = {};
      for (const id of ids) {
        const value = this.#read<SignalDataTypeMap[Kind]>(kind, id);
        if (value !== undefined) found[id] = value;
      }
      return found;
    },
    set: (data) => this.#write(data),
  };
  readonly #key: Buffer;
  readonly #database: DatabaseSync;

  private constructor(database: DatabaseSync, key: Uint8Array) {
    this.#key = Buffer.from(key);
    this.#database = database;
    this.creds = this.#read<AuthenticationCreds>("creds", "") ?? initAuthCreds();
  }

  /** A name for a login to come. */
  static newName(): string {
    return randomBytes(8).toString("hex");
  }

  /** Whether there is a login of that name. */
  static async has(stateDir: string, name: string): Promise<boolean> {
    if (!/^[\da-f]{16}$/.test(name)) return false;
    return await Deno.stat(`${stateDir}/login_${name}.sqlite`).then(() => true, () => false);
  }

  /**
   * The one of that name, or a new one that is linked to nothing yet, also where the other was sealed with
   * another key. Rejects with a `LoginRefusedError` where there is no key.
   */
  static async open({ stateDir, stateKey }: LoginPlace, name: string): Promise<LoginStore> {
    if (stateKey === undefined) {
      throw new LoginRefusedError("The key of the secrets can't be read: service doctor");
    }
    await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
    return new LoginStore(openStateDatabase(stateDir, `login_${name}`, MIGRATIONS), stateKey);
  }

  /** Removes the login of that name, or all others. */
  static async remove(stateDir: string, name: string, { others = false } = {}): Promise<void> {
    for await (const { name: file } of Deno.readDir(stateDir)) {
      const isMeant = FILE.test(file) && file.startsWith(`login_${name}`) !== others;
      if (isMeant) await Deno.remove(`${stateDir}/${file}`);
    }
  }

  saveCreds(): void {
    this.#write({ creds: { "": this.creds } });
  }

  /** Keeps what was sent, for a device that could not read it. */
  keepSent(id: string, message: proto.IMessage): void {
    this.#write({ sent: { [id]: proto.Message.encode(message).finish() } });
    this.#database.prepare(
      `DELETE FROM entries WHERE kind = 'sent' AND seq <=
        (SELECT seq FROM entries WHERE kind = 'sent' ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
    ).run(MAX_SENT);
  }

  sent(id: string): proto.IMessage | undefined {
    const bytes = this.#read<Uint8Array>("sent", id);
    return bytes === undefined ? undefined : proto.Message.decode(bytes);
  }

  close(): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #read<T>(kind: string, id: string): T | undefined {
    if (!this.#database.isOpen) return undefined;
    const name = this.#nameOf(kind, id);
    const row = this.#database.prepare("SELECT value FROM entries WHERE name = ?").get(name);
    if (row === undefined) return undefined;
    const sealed = row.value as Uint8Array;
    const iv = sealed.subarray(0, IV_BYTES);
    const text = aesDecryptGCM(sealed.subarray(IV_BYTES), this.#key, iv, name);
    const value = JSON.parse(text.toString(), BufferJSON.reviver);
    if (kind !== "app-state-sync-key") return value;
    return proto.Message.AppStateSyncKeyData.fromObject(value) as T;
  }

  #write(data: SignalDataSet & Record<string, Record<string, unknown> | undefined>): void {
    const database = this.#database;
    // The client still has thoughts behind its end, of which the server hears nothing.
    if (!database.isOpen) return;
    inTransaction(database, () => {
      for (const [kind, values] of Object.entries(data)) {
        for (const [id, value] of Object.entries(values ?? {})) {
          const name = this.#nameOf(kind, id);
          if (value === null || value === undefined) {
            database.prepare("DELETE FROM entries WHERE name = ?").run(name);
            continue;
          }
          const iv = randomBytes(IV_BYTES);
          const text = Buffer.from(JSON.stringify(value, BufferJSON.replacer));
          const sealed = Buffer.concat([iv, aesEncryptGCM(text, this.#key, iv, name)]);
          database.prepare("INSERT OR REPLACE INTO entries (kind, name, value) VALUES (?, ?, ?)")
            .run(kind, name, sealed);
        }
      }
    });
  }

  /** Who somebody is stands in the id, so that no one sees that either. */
  #nameOf(kind: string, id: string): Buffer {
    return hmacSign(Buffer.from(JSON.stringify([kind, id])), this.#key);
  }
}
