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
