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
