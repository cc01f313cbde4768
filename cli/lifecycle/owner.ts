/**
 * Which process has a home, and how it is.
 *
 * @module
 */

import { lockHolder, unlock } from "../../lib/authority/home_lock.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import type { HomePaths } from "../../lib/config/paths.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import { connectLocal, endpointAt } from "../../lib/local/endpoint.ts";
import type { ServiceStatus } from "../../lib/operations/service_status.ts";
import { operateWith } from "../operator/operate_with.ts";
import { readRecord, type ServiceRecord } from "./record.ts";

/** How long a process may take to answer over the local socket. */
const ANSWER_MS = 3_000;

/** A process that has a home and answers. */
interface Answering<State> {
  state: State;
  pid: number;
  client: LocalClient;
  status: ServiceStatus;
  record?: ServiceRecord;
}

/** A service that answers. */
export type Running = Answering<"running">;

/** The process that has a home. */
export type Owner =
  /** None has. `last` is what the last service wrote down. */
  | { state: "none"; last?: ServiceRecord }
  | Running
  /** It has the home for its own time only. */
  | Answering<"command">
  /** It does not answer, or not any more. */
  | {
    state: "starting" | "stopping" | "silent";
    /** Undefined for a process that cannot be told, such as one of another container. */
    pid: number | undefined;
    record?: ServiceRecord;
  };

/** Looks it up. Whoever calls closes the client. Throws `invalid_request` for a home of someone else. */
export async function findOwner(paths: HomePaths): Promise<Owner> {
  const lock = await readLock(paths);
  const record = await readRecord(paths);
  if (!lock.isHeld) return { state: "none", last: record };
  const answer = await within(ANSWER_MS, ask(paths));
  if (answer !== undefined) {
    const { pid } = answer.status;
    if (record?.pid === pid) return { state: "running", pid, record, ...answer };
    // The record could not be written, on a full disk say.
    const isService = answer.status.api_url !== undefined || answer.status.ws_url !== undefined;
    return isService ? { state: "running", pid, ...answer } : { state: "command", pid, ...answer };
  }
  const pid = lock.pid !== undefined && await hasOpen(lock.pid, paths.lockFile)
    ? lock.pid
    : undefined;
  if (pid === undefined || record?.pid !== pid) return { state: "starting", pid };
  return { state: record.stoppingAt === undefined ? "silent" : "stopping", pid, record };
}

/** Whether a process has the home now. */
export async function isOwned(paths: HomePaths): Promise<boolean> {
  return (await readLock(paths)).isHeld;
}

async function ask(
  { socket }: HomePaths,
): Promise<{ client: LocalClient; status: ServiceStatus } | undefined> {
  const client = await connectLocal(endpointAt(socket));
  if (client === undefined) return undefined;
  try {
    return { client, status: await operateWith(client)({ op: "service.status" }) };
  } catch {
    client.close();
    return undefined;
  }
}

/** The lock, looked at for a moment without taking it. The number in it may be that of an earlier owner. */
async function readLock(
  { lockFile, home }: HomePaths,
): Promise<{ isHeld: boolean; pid?: number }> {
  try {
    const file = await Deno.open(lockFile);
    if (await file.tryLock(false)) {
      unlock(file);
      return { isHeld: false };
    }
    file.close();
    return { isHeld: true, pid: await lockHolder(lockFile) };
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) return { isHeld: false };
    throw new ServiceError(
      "invalid_request",
      `Can't look into the home ${home}: ${(cause as Error).message}. Only its owner can do this`,
      { param: "SERVICE_HOME" },
      { cause },
    );
  }
}

/**
 * Whether a process has a file open: a number that was used again for another process has not, and neither
 * has that of another container.
 */
export async function hasOpen(pid: number, path: string): Promise<boolean> {
  if (Deno.build.os !== "linux") return true;
  // Deno itself reads nothing of other processes.
  const script = 'for fd in "/proc/$1/fd/"*; do [ "$fd" -ef "$2" ] && exit 0; done; exit 1';
  const { success } = await new Deno.Command("/bin/sh", {
    args: ["-c", script, "sh", String(pid), path],
    stdout: "null",
    stderr: "null",
  }).output();
  return success;
}

/** Undefined when it takes longer. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => late.resolve(undefined), ms);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}
