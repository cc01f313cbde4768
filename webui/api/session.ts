/**
 * Who the person at this page is to the service, and what they may do: kept as one signal, which the
 * shell shows.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { includesScope, type Scope } from "../../lib/contract/credentials.ts";
import { keep, kept } from "../storage.ts";
import { ApiError, reach } from "./error.ts";
import { type Bootstrap, type Operations, ROUTES } from "./operations.ts";

/** How far the way in is. */
export type Access =
  | { state: "opening" }
  /** A secret or a token is asked for; `problem`: what was wrong with the last one. */
  | { state: "closed"; problem?: string }
  /** The service lets nobody in from here; in its own words. */
  | { state: "refused"; problem: string }
  | { state: "unreachable" }
  | { state: "open"; bootstrap: Bootstrap };

/** The way in, as it is now. */
export const access = signal<Access>({ state: "opening" });

/** Where a secret or token is kept: for this tab, or for this browser. */
const SECRET = "service.secret";

/** Tokens of routes begin so. */
const API_TOKEN = /^sat_/;

let secret: string | undefined;
let apiToken: string | undefined;

/** Finds out who is there: by a link with a token, by what was kept, or with nothing to show. */
export async function openSession(): Promise<void> {
  secret = takeFromLink() ?? kept(SECRET, sessionStorage) ?? kept(SECRET, localStorage);
  await tryBootstrap();
}

/** Tries a secret or token. `remembers`: this browser keeps it, not only this tab. */
export async function signIn(shown: string, { remembers }: { remembers: boolean }): Promise<void> {
  secret = shown;
  await tryBootstrap();
  if (access.value.state !== "open") return;
  keep(SECRET, shown, remembers ? localStorage : sessionStorage);
}

/** Forgets the secret here. Behind a proxy, its own page signs out. */
export function signOut(): void {
  secret = apiToken = undefined;
  keep(SECRET, undefined, sessionStorage);
  keep(SECRET, undefined, localStorage);
  access.value = { state: "closed" };
}

/** Whether a secret or token was given here, and so can be forgotten. */
export function isSignedIn(): boolean {
  return secret !== undefined;
}

/** What only those in `gates.approvers` may, where a proxy says who somebody is. */
const ANSWERS: readonly (keyof Operations)[] = ["approvals.approve", "approvals.deny"];

/** Those who may answer approvals, where the person may not although everything else is open. */
export function otherApprovers(): readonly string[] | undefined {
  return access.value.state === "open" ? access.value.bootstrap.approvers : undefined;
}

/** Whether the person may use an operation, or anything that takes a scope. */
export function may(what: keyof Operations | { scope: Scope }): boolean {
  if (access.value.state !== "open") return false;
  const { scopes, approvers } = access.value.bootstrap;
  if (approvers !== undefined && typeof what === "string" && ANSWERS.includes(what)) return false;
  const scope = typeof what === "string" ? ROUTES[what][2] : what.scope;
  return scopes === undefined || includesScope(scopes, scope);
}

/** The header that shows who asks; absent where a proxy, or nothing at all, lets people in. */
export function authorization(): { authorization?: string } {
  return apiToken === undefined ? {} : { authorization: `Bearer ${apiToken}` };
}

/**
 * A token for one WebSocket and a fresh one for the routes. Rejects with an {@linkcode ApiError}; one that
 * asks for a secret also closes the session.
 */
export async function bootstrap(): Promise<Bootstrap> {
  try {
    const response = await reach("/webui/bootstrap", {
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
    });
    if (!response.ok) throw await ApiError.of(response);
    const answer: Bootstrap = await response.json();
    apiToken = answer.api_token ??
      (secret !== undefined && API_TOKEN.test(secret) ? secret : undefined);
    if (access.value.state !== "open") access.value = { state: "open", bootstrap: answer };
    return answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) {
      access.value = { state: "closed", ...secret !== undefined && { problem: error.message } };
    }
    throw error;
  }
}

async function tryBootstrap(): Promise<void> {
  try {
    await bootstrap();
  } catch (error) {
    if (!(error instanceof ApiError)) access.value = { state: "unreachable" };
    else if (error.status === 429) access.value = { state: "closed", problem: error.message };
    else if (error.status !== 401) access.value = { state: "refused", problem: error.message };
  }
}

/** A token in the fragment, which no server is told; it is taken out of the address at once. */
function takeFromLink(): string | undefined {
  const token = /^#token=([\w.~%-]+)$/.exec(location.hash)?.[1];
  if (token === undefined) return undefined;
  history.replaceState(null, "", location.pathname);
  keep(SECRET, decodeURIComponent(token), sessionStorage);
  return decodeURIComponent(token);
}
