import { assertEquals } from "@std/assert";
import { configSchema } from "../config/schema.ts";
import { computePermissions } from "./permissions.ts";

Deno.test("computePermissions() has the host of transcription while that is on and channels run", () => {
  const hosts = (transcription: object, channels: boolean) =>
    computePermissions({
      config: configSchema.parse({ transcription }),
      api: false,
      channels,
      paths: { dataDir: "/data", socket: "/run/service.sock" },
      providers: [],
      env: [],
      sources: [],
    }).filter(({ askedBy }) => askedBy === "transcription");
  const at = (value: string) => [{ kind: "net" as const, value, askedBy: "transcription" }];
  assertEquals(hosts({ enabled: true }, true), at("api.openai.com:443"));
  assertEquals(hosts({ enabled: true, baseUrl: "http://[::1]:8000/v1" }, true), at("[::1]:8000"));
  assertEquals(hosts({ enabled: true }, false), []);
  assertEquals(hosts({}, true), []);
});

Deno.test("computePermissions() has the socket of the home, and on Windows a port and its file", () => {
  const local = (os: typeof Deno.build.os) =>
    computePermissions({
      config: configSchema.parse({}),
      api: false,
      channels: false,
      paths: { dataDir: "/data", socket: "/run/service.sock" },
      providers: [],
      env: [],
      sources: [],
      os,
    }).filter(({ askedBy }) => askedBy === "local socket").map(({ kind, value }) => [kind, value]);
  assertEquals(local("linux"), [
    ["net", "unix:/run/service.sock"],
    ["read", "/run/service.sock"],
    ["write", "/run/service.sock"],
  ]);
  assertEquals(local("windows"), [
    ["net", "127.0.0.1:0"],
    ["read", "/run/service.sock.json"],
    ["write", "/run/service.sock.json"],
  ]);
});

Deno.test("computePermissions() has the address of localhost where a port listens there", () => {
  const table = computePermissions({
    config: configSchema.parse({
      api: { host: "localhost", port: 8_080 },
      channels: { websocket: { host: "LocalHost", port: 8_081 } },
    }),
    api: true,
    channels: true,
    paths: { dataDir: "/data", socket: "/run/service.sock" },
    providers: [{ host: "localhost", port: 11_434, provider: "ollama" }],
    env: [],
    sources: [],
  });
  assertEquals(table.filter(({ kind }) => kind === "net").slice(0, 3).map(({ value }) => value), [
    "127.0.0.1:8080",
    "127.0.0.1:8081",
    "localhost:11434",
  ]);
});
