/**
 * Matrix' own cryptography (vodozemac, as WebAssembly), and the keys of one session in the channel's folder.
 * Loaded only where a room is encrypted: it takes about 25 MiB.
 *
 * @module
 */

import type { OlmMachine } from "@matrix-org/matrix-sdk-crypto-wasm";
import { provideIndexedDb } from "../../../lib/channel/platform/indexed_db.ts";
import type { Memory } from "../../../lib/channel/platform/mod.ts";

/** The library. */
export type Olm = typeof import("@matrix-org/matrix-sdk-crypto-wasm");

/** Why nothing can be encrypted, in words for the operator; another try is of no use. */
export class EncryptionUnavailableError extends Error {}

/** Whose keys they are. */
export interface MachineOptions {
  userId: string;
  deviceId: string;
  stateDir: string;
  stateKey: Uint8Array | undefined;
  memory: Pick<Memory, "get" | "set">;
}

export interface OpenMachine {
  olm: Olm;
  machine: OlmMachine;
  close(): void;
}

/** Name of the file, beside which SQLite has two more. */
const FILE = "crypto";

/** Whether a session has kept keys there before. */
export function hasKeys(memory: Pick<Memory, "get">): boolean {
  return memory.get("crypto", "session") !== undefined;
}

/** Rejects with an EncryptionUnavailableError. Keys of another session are of no use to this one, and go. */
export async function openMachine(options: MachineOptions): Promise<OpenMachine> {
  const { userId, deviceId, stateDir, stateKey, memory } = options;
  if (deviceId === "") {
    throw new EncryptionUnavailableError("the access token belongs to no session");
  }
  if (stateKey === undefined) {
    throw new EncryptionUnavailableError("the key of the secrets can't be read: service doctor");
  }
  const session = `${userId} ${deviceId}`;
  if (memory.get("crypto", "session") !== session) {
    for (const end of ["", "-wal", "-shm"]) {
      await Deno.remove(`${stateDir}/${FILE}.sqlite${end}`).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    }
    memory.set("crypto", "session", session);
  }
  const olm = await import("@matrix-org/matrix-sdk-crypto-wasm");
  await olm.initAsync();
  const closeFile = provideIndexedDb(stateDir, FILE);
  try {
    const store = await olm.StoreHandle.openWithKey(FILE, stateKey.slice());
    const [user, device] = [new olm.UserId(userId), new olm.DeviceId(deviceId)];
    const machine = await olm.OlmMachine.initFromStore(user, device, store);
    return {
      olm,
      machine,
      close() {
        machine.close();
        closeFile();
      },
    };
  } catch (error) {
    closeFile();
    throw new EncryptionUnavailableError(
      `the keys in ${FILE}.sqlite can't be opened (${
        error instanceof Error ? error.message : error
      }): ` +
        "they were encrypted with another key of the secrets, or are damaged",
    );
  }
}
