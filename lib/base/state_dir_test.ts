import { assert, assertEquals } from "@std/assert";
import { channelStateDir, isInside } from "./state_dir.ts";

Deno.test("channelStateDir() gives each runtime name a folder of its own", () => {
  assertEquals(channelStateDir("/home/me/data", "email.work"), "/home/me/data/channels/email.work");
});

Deno.test("isInside() takes files below the folder, and no other spelling of any path", () => {
  const inside = (path: string) => isInside("/data/channels/email", path);
  assert(inside("/data/channels/email/a.ogg"));
  assert(inside("/data/channels/email/in/a.ogg"));
  for (
    const path of [
      "/data/channels/email",
      "/data/channels/email/",
      "/data/channels/email2/a.ogg",
      "/data/channels/email/../irc/a.ogg",
      "/data/channels/email/./a.ogg",
      "/data/channels/email//a.ogg",
      "/data/channels/email/a\0.ogg",
      "a.ogg",
      "",
      "/etc/passwd",
    ]
  ) assertEquals(inside(path), false, path);
});
