/**
 * Takes what other apps of a phone share with this one, and keeps it for the page, which puts it into a
 * message. It answers nothing else: the app is of no use without the service.
 *
 * @module
 */

import { keepShared, SHARE_PATH } from "./chat/shared.ts";

/** As much of the worker's scope as is used; the types of a page know no workers. */
interface WorkerScope {
  skipWaiting(): Promise<void>;
  clients: { claim(): Promise<void> };
  addEventListener(
    type: "install" | "activate" | "fetch",
    does: (event: WorkerEvent) => void,
  ): void;
}

interface WorkerEvent {
  request: Request;
  waitUntil(promise: Promise<unknown>): void;
  respondWith(answer: Promise<Response>): void;
}

const scope = globalThis as unknown as WorkerScope;

scope.addEventListener("install", (event) => event.waitUntil(scope.skipWaiting()));
scope.addEventListener("activate", (event) => event.waitUntil(scope.clients.claim()));
scope.addEventListener("fetch", (event) => {
  const { method, url } = event.request;
  if (method !== "POST" || new URL(url).pathname !== SHARE_PATH) return;
  event.respondWith((async () => {
    await keepShared(await event.request.formData());
    return Response.redirect("/#/chat", 303);
  })());
});
