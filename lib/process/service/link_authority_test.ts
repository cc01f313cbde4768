import { assertEquals, assertRejects } from "@std/assert";
import type { ChildOutcome } from "../../executor/executor.ts";
import {
  answerGateway,
  type GatewayAnswers,
  scrubbedErrors,
} from "../../authority/answer_gateway.ts";
import { createSigningKeyFetch } from "../../authority/jwks/signing_key_fetch.ts";
import { AUTHORITY } from "../../authority/protocol.ts";
import { systemClock } from "../../base/clock.ts";
import { ServiceError } from "../../base/errors.ts";
import { NO_ENDPOINT } from "../../rpc/endpoint.ts";
import { Peer } from "../../rpc/peer.ts";
import { portTransport } from "../../rpc/port_transport.ts";
import { serviceErrors } from "../../rpc/service_errors.ts";
import { fingerprintsOf } from "../../secrets/fingerprints_of.ts";
import { createScrubber } from "../../secrets/scrubber.ts";
import { fetchJwks } from "../../trusted_proxy/fetch_jwks.ts";
import { parseJwksUrl } from "../../trusted_proxy/jwks_address.ts";
import { makeSigner } from "../../trusted_proxy/testing/issuer.ts";
import type { ChannelWorker } from "../../channel_worker/open_channel_worker.ts";
import { linkAuthority } from "./link_authority.ts";

const JWKS_URL = "https://keys.example/jwks";

/** The gateway's end of a connection to an authority that answers with these parts. */
function linked(parts: Partial<GatewayAnswers>) {
  const { port1, port2 } = new MessageChannel();
  const lines: string[] = [];
  const silent = () => {};
  const log = {
    debug: silent,
    info: silent,
    warning: silent,
    error: (m: string) => void lines.push(m),
  };
  const deps = {
    scrubber: createScrubber(fingerprintsOf({ name: "KEY", value: "a-secret-token" })),
    log,
    ...parts,
  } as GatewayAnswers;
  const authority = new Peer({
    transport: portTransport(port1),
    mine: AUTHORITY,
    theirs: NO_ENDPOINT,
    handlers: answerGateway(deps),
    errors: scrubbedErrors(deps),
  });
  const gateway = new Peer({
    transport: portTransport(port2),
    mine: NO_ENDPOINT,
    theirs: AUTHORITY,
    handlers: { calls: {}, notices: {} },
    errors: serviceErrors(),
  });
  return {
    link: linkAuthority(gateway, () => 0),
    gateway,
    lines,
    close() {
      gateway.close("the test is over");
      authority.close("the test is over");
    },
  };
}

function withKeys(...outcomes: ChildOutcome[]) {
  return linked({
    signingKeys: createSigningKeyFetch({
      jwksUrl: JWKS_URL,
      executor: { run: () => Promise.resolve(outcomes.shift()!) },
    }),
  });
}

const url = parseJwksUrl(JWKS_URL);
if ("problem" in url) throw new Error(url.problem);

Deno.test("signingKeys brings keys from the authority", async () => {
  const { jwk } = await makeSigner("EdDSA", "ed");
  const { link, close } = withKeys(
    { type: "addresses", addresses: ["93.184.216.34"] },
    {
      type: "result",
      output: JSON.stringify({
        status: 200,
        headers: { "content-type": "application/json" },
        body: new TextEncoder().encode(JSON.stringify({ keys: [jwk] })).toBase64(),
      }),
    },
  );
  const keys = await fetchJwks(url, { network: link.signingKeys, clock: systemClock });
  assertEquals(keys.has("ed"), true);
  close();
});

Deno.test("signingKeys fails with the authority's own words, and for redirects", async () => {
  const bad = withKeys({ type: "addresses", addresses: ["93.184.216.34", "169.254.169.254"] });
  await assertRejects(
    () => fetchJwks(url, { network: bad.link.signingKeys, clock: systemClock }),
    Error,
    "keys.example",
  );
  bad.close();
  const redirect = withKeys({ type: "addresses", addresses: ["93.184.216.34"] }, {
    type: "result",
    output: JSON.stringify({ status: 302, headers: {}, body: "" }),
  });
  await assertRejects(
    () => fetchJwks(url, { network: redirect.link.signingKeys, clock: systemClock }),
    Error,
    "redirect",
  );
  redirect.close();
});

Deno.test("signingKeys does not wait on after its time", async () => {
  const { link, close } = linked({
    signingKeys: { resolve: () => new Promise(() => {}), ask: () => new Promise(() => {}) },
  });
  const abort = new AbortController();
  const asked = link.signingKeys.resolve("keys.example", abort.signal);
  abort.abort(new Error("too late"));
  await assertRejects(() => asked, Error, "too late");
  close();
});

const CONTEXT = {
  sessionKey: "s",
  turnId: "t",
  channel: "cli",
  actor: "a",
  attended: true,
  personHosts: [],
  toolUrls: [],
};

Deno.test("an approval on its way to the gateway holds no secret, however its parts were joined", async () => {
  const { link, close } = linked({
    actions: {
      turnEnded() {},
      act(_request, { onApproval }) {
        const outcome = "a-secret-token" as never;
        onApproval!({ type: "resolved", approvalId: "apr_1", outcome });
        return Promise.resolve({ status: "ok", output: "" });
      },
    },
  });
  const seen: unknown[] = [];
  const context = { ...CONTEXT, callId: "1" };
  await link.actions.act({ tool: "x", args: {}, context }, {
    signal: new AbortController().signal,
    onProgress: () => {},
    onApproval: (event) => void seen.push(event),
    left: new AbortController().signal,
  });
  assertEquals(seen, [{ type: "resolved", approvalId: "apr_1", outcome: "[secret KEY]" }]);
  close();
});

Deno.test("act() tells the authority that whoever asked has left, of that action alone", async () => {
  const left: string[] = [];
  const { link, close } = linked({
    actions: {
      turnEnded() {},
      act: ({ context }, { left: gone, onProgress }) =>
        new Promise((resolve) => {
          onProgress("on its way");
          gone!.addEventListener("abort", () => {
            left.push(context.callId);
            resolve({ status: "ok", output: "" });
          });
        }),
    },
  });
  const { signal } = new AbortController();
  const leaving = new AbortController();
  const told: string[] = [];
  const act = (callId: string, gone: AbortSignal) =>
    link.actions.act({ tool: "x", args: {}, context: { ...CONTEXT, callId } }, {
      signal,
      onProgress: (text) => void told.push(text),
      left: gone,
    });
  const staying = new AbortController();
  const [first, second] = [act("1", leaving.signal), act("2", staying.signal)];
  leaving.abort();
  await first;
  assertEquals([left, told.length, told[0]], [["1"], 2, "on its way"]);
  staying.abort();
  await second;
  close();
});

Deno.test("turnEnded() tells the authority which turn, after the actions of it", async () => {
  const told = Promise.withResolvers<string[]>();
  const seen: string[] = [];
  const { link, close } = linked({
    actions: {
      turnEnded: (turnId) => told.resolve([...seen, turnId]),
      act({ context }) {
        seen.push(context.callId);
        return new Promise(() => {});
      },
    },
  });
  const options = { signal: new AbortController().signal, onProgress: () => {} };
  const acting = link.actions.act(
    { tool: "x", args: {}, context: { ...CONTEXT, callId: "1" } },
    options,
  );
  link.actions.turnEnded("t");
  assertEquals(await told.promise, ["1", "t"]);
  close();
  await assertRejects(() => acting);
});

/** A channel's process, and how often it was closed. */
function worker() {
  const ended = Promise.withResolvers<string>();
  const input = new TransformStream<Uint8Array, Uint8Array>();
  const output = new TransformStream<Uint8Array, Uint8Array>();
  const made = { closed: 0, end: ended.resolve, heard: input.readable, output: output.writable };
  const opened: ChannelWorker = {
    streams: { readable: output.readable, writable: input.writable },
    ended: ended.promise,
    close() {
      made.closed += 1;
    },
  };
  return Object.assign(made, { opened });
}

function withWorkers() {
  const openings: PromiseWithResolvers<ChannelWorker>[] = [];
  const asked: string[] = [];
  const side = linked({
    channelWorkers: {
      open(runtimeName) {
        asked.push(runtimeName);
        const opening = Promise.withResolvers<ChannelWorker>();
        openings.push(opening);
        return opening.promise;
      },
    },
  });
  return { ...side, openings, asked };
}

/** Resolves when it holds; the event loop turns meanwhile. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1));
}

Deno.test("openChannelWorker() gives the worker of a channel, which closing ends once", async () => {
  const { link, openings, asked, close } = withWorkers();
  const opening = link.openChannelWorker("irc");
  const made = worker();
  await until(() => openings.length === 1);
  openings[0]!.resolve(made.opened);
  const opened = await opening;
  opened.close();
  opened.close();
  await until(() => made.closed > 0);
  assertEquals([asked, made.closed], [["irc"], 1]);
  opened.ended.catch(() => {});
  close();
});

Deno.test("openChannelWorker() hears why a worker has ended, and rejects without secrets", async () => {
  const { link, openings, lines, close } = withWorkers();
  const opening = link.openChannelWorker("irc");
  await until(() => openings.length === 1);
  const made = worker();
  openings[0]!.resolve(made.opened);
  const { ended } = await opening;
  made.end("it threw: a-secret-token");
  assertEquals([await ended, made.closed], ["it threw: [secret KEY]", 0]);

  const refused = link.openChannelWorker("irc");
  await until(() => openings.length === 2);
  openings[1]!.reject(new ServiceError("not_enabled", "irc is off", { param: "channel" }));
  const error = await assertRejects(() => refused, ServiceError, "irc is off");
  assertEquals([error.code, error.details.param], ["not_enabled", "channel"]);
  const broken = link.openChannelWorker("irc");
  await until(() => openings.length === 3);
  openings[2]!.reject(new Error("a-secret-token broke"));
  await assertRejects(() => broken, ServiceError, "[secret KEY] broke");
  assertEquals(lines, ["A call failed unexpectedly"]);
  close();
});

Deno.test("a worker that comes after the gateway has gone is closed, and so is one that runs", async () => {
  const { link, openings, close } = withWorkers();
  const [open, late] = [worker(), worker()];
  const first = link.openChannelWorker("a");
  await until(() => openings.length === 1);
  openings[0]!.resolve(open.opened);
  (await first).ended.catch(() => {});
  const second = assertRejects(() => link.openChannelWorker("b"), ServiceError);
  await until(() => openings.length === 2);
  close();
  await second;
  openings[1]!.resolve(late.opened);
  await until(() => late.closed === 1);
  assertEquals([open.closed, late.closed], [1, 1]);
});

Deno.test("openChannelWorker() opens only so many", async () => {
  const { gateway, openings, close } = withWorkers();
  const refused = Array.from(
    { length: 300 },
    (_, id) =>
      gateway.call("channel", { runtimeName: "a", id: id + 1 }).catch((error: ServiceError) =>
        error.code
      ),
  );
  assertEquals(
    (await Promise.all(refused.slice(256))).every((code) => code === "overloaded"),
    true,
  );
  assertEquals(openings.length, 256);
  close();
});

Deno.test("openChannelWorker() carries bytes both ways, in their order, no faster than they are read", async () => {
  const { link, openings, close } = withWorkers();
  const opening = link.openChannelWorker("irc");
  const made = worker();
  await until(() => openings.length === 1);
  openings[0]!.resolve(made.opened);
  const { streams, ended } = await opening;

  const writer = streams.writable.getWriter();
  const heard = made.heard.getReader();
  void writer.write(new Uint8Array([1, 2]));
  void writer.write(new Uint8Array([3]));
  assertEquals([(await heard.read()).value, (await heard.read()).value], [
    new Uint8Array([1, 2]),
    new Uint8Array([3]),
  ]);

  const output = made.output.getWriter();
  let taken = 0;
  const saying = (async () => {
    for (let at = 0; at < 1_000; at++) {
      await output.write(new Uint8Array([at % 256]));
      taken++;
    }
    await output.close();
    made.end("it is done");
  })();
  await new Promise((resolve) => setTimeout(resolve, 100));
  assertEquals(taken < 500, true, `${taken} pieces wait for somebody who does not read`);
  const said: number[] = [];
  for await (const bytes of streams.readable) said.push(...bytes);
  assertEquals(said, Array.from({ length: 1_000 }, (_, at) => at % 256));
  assertEquals(await ended, "it is done");
  await saying;
  close();
});
