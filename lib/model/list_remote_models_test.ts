import { assertEquals, assertStringIncludes } from "@std/assert";
import { findLocalServers } from "./find_local_servers.ts";
import { listRemoteModels } from "./list_remote_models.ts";

const SPEC = {
  type: "openai-compatible" as const,
  baseUrl: "http://models.example/v1",
  apiKey: "",
  headers: {},
};

/** Asks a server that answers like this, and returns the request too. */
async function ask(answer: () => Response | Promise<Response>, spec: Partial<typeof SPEC> = {}) {
  let request: Request | undefined;
  const result = await listRemoteModels({
    spec: { ...SPEC, ...spec },
    fetch: (input, init) => {
      request = new Request(input, init);
      return Promise.resolve(answer());
    },
    timeoutMs: 1_000,
  });
  return { result, request: request! };
}

Deno.test("listRemoteModels() gives the ids of the models", async () => {
  const { result, request } = await ask(
    () => Response.json({ data: [{ id: "a" }, { id: "b" }, { id: 1 }, null] }),
    { apiKey: "sk-1", headers: { "x-team": "t" } },
  );
  assertEquals(result, { kind: "answered", status: 200, models: ["a", "b"] });
  assertEquals(request.url, "http://models.example/v1/models");
  assertEquals(request.headers.get("authorization"), "Bearer sk-1");
  assertEquals(request.headers.get("x-team"), "t");
});

Deno.test("listRemoteModels() sends no empty key, and Anthropic's in its own header", async () => {
  const plain = await ask(() => Response.json({ data: [] }));
  assertEquals(plain.request.headers.get("authorization"), null);
  const spec = { type: "anthropic" as const, apiKey: "sk-ant" };
  const { request } = await ask(() => Response.json({ data: [] }), spec as never);
  assertEquals(request.headers.get("x-api-key"), "sk-ant");
  assertEquals(request.headers.get("anthropic-version"), "2023-06-01");
  assertEquals(request.headers.get("authorization"), null);
});

Deno.test("listRemoteModels() tells an answer that is no list from none", async () => {
  const status = await ask(() => new Response("no", { status: 401 }));
  assertEquals(status.result, { kind: "answered", status: 401 });
  const text = await ask(() => new Response("<html>"));
  assertEquals(text.result, { kind: "answered", status: 200, models: undefined });
  const huge = await ask(() => new Response(new Uint8Array(5 * 1024 * 1024)));
  assertEquals(huge.result, { kind: "answered", status: 200, models: undefined });
});

Deno.test("listRemoteModels() says why a server cannot be reached, without its URL", async () => {
  const { result } = await ask(() => {
    throw new TypeError(
      "error sending request for url (http://u:secret@models.example/v1/models)",
      {
        cause: new Error("Connection refused (os error 111) for http://u:secret@models.example"),
      },
    );
  });
  assertEquals(result, {
    kind: "unreachable",
    reason: "Connection refused (os error 111) for the server",
  });
});

Deno.test("listRemoteModels() gives up after its time", async () => {
  const result = await listRemoteModels({
    spec: SPEC,
    fetch: (_, init) =>
      new Promise((_, reject) => {
        init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason));
      }),
    timeoutMs: 1,
  });
  assertEquals(result, { kind: "unreachable", reason: "no answer in 1 ms" });
});

Deno.test("findLocalServers() finds those that answer with a list", async () => {
  const asked: string[] = [];
  const servers = await findLocalServers({
    fetch: (input) => {
      const { host } = new URL(String(input));
      asked.push(host);
      if (host.endsWith(":11434")) return Promise.resolve(Response.json({ data: [{ id: "q" }] }));
      if (host.endsWith(":8080")) return Promise.resolve(new Response("a web server"));
      return Promise.reject(new TypeError("refused"));
    },
  });
  assertEquals(servers, [{
    name: "Ollama",
    provider: "ollama",
    baseUrl: "http://127.0.0.1:11434/v1",
    models: ["q"],
  }]);
  for (const host of asked) assertStringIncludes(host, "127.0.0.1:");
  assertEquals(asked.length, 3);
});
