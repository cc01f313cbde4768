/** The service answers as well when its log cannot be written. */

import { assert, assertEquals } from "@std/assert";
import { TextLineStream } from "@std/streams/text-line-stream";
import { makeHome } from "../support/home.ts";

/** Requests whose log lines fill a pipe (64 KiB) and the buffer behind it (1 MiB). */
const REQUESTS = 3_000;
const PATH = `/${"x".repeat(500)}`;

async function startUnread() {
  const home = await makeHome({});
  const child = home.spawn(["serve", "--port", "0", "--json"]);
  const lines = child.stdout.pipeThrough(new TextDecoderStream())
    .pipeThrough(new TextLineStream()).getReader();
  const { apiUrl } = JSON.parse((await lines.read()).value!) as { apiUrl: string };
  return { home, child, apiUrl, lines };
}

async function status(url: string): Promise<number> {
  const response = await fetch(url, { signal: AbortSignal.timeout(20_000) });
  await response.body?.cancel();
  return response.status;
}

Deno.test("a log that nobody reads holds up no request; what it lost is said once", async () => {
  const { home, child, apiUrl, lines } = await startUnread();
  await using _home = home;
  let sent = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (sent++ < REQUESTS) assertEquals(await status(apiUrl + PATH), 404);
  }));
  const logged = new Response(child.stderr).text();
  // The end of this one's line says that everything before it has been read.
  assertEquals(await status(`${apiUrl}/health`), 200);
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  await lines.cancel();
  const log = (await logged).split("\n");
  // More may be lost, and told, after the reader has begun.
  const told = log.filter((line) => line.includes("Log lines were dropped"));
  const lost = told.map((line) => Number(/lines=(\d+)/.exec(line)![1]));
  assert(lost.length > 0 && lost.every((lines) => lines > 0), told.join("\n"));
  const kept = log.filter((line) => line.includes(" GET /xxx")).length;
  assertEquals(kept + lost.reduce((sum, lines) => sum + lines), REQUESTS);
  assert(log.some((line) => line.includes(" Stopped ")));
});

Deno.test("a log whose reader is gone makes no request fail", async () => {
  const { home, child, apiUrl, lines } = await startUnread();
  await using _home = home;
  await child.stderr.cancel();
  for (let at = 0; at < 3; at++) assertEquals(await status(`${apiUrl}/health`), 200);
  child.kill("SIGTERM");
  assertEquals((await child.status).code, 0);
  await lines.cancel();
});
