import { assertEquals, assertThrows } from "@std/assert";
import type { PathTarget, Target } from "../contract/actions.ts";
import { actionJob, resolverJob } from "./child_job.ts";
import { CLOSED_RANGES } from "../base/addresses.ts";

const SETTINGS = { workspace: "/w", maxOutputBytes: 1_000 };
const NOTHING = { read: [], write: [], net: [], denyNet: [] };
const UNSEEN = { readOnly: [], readWrite: [], network: false };

function path(access: "read" | "write", real: string, more: Partial<PathTarget> = {}): PathTarget {
  const folder = { real: real.replace(/\/[^/]*$/, "") || "/", dev: 1, ino: 2 };
  const file = { isDirectory: false, dev: 1, ino: 3, links: 1 };
  return { kind: "path", access, path: real, real, viaLink: false, file, folder, ...more };
}

function needsOf(target: Target) {
  const action = { tool: "t", capability: "fs.read" as const, args: {}, target, digest: "" };
  const { permissions, view } = actionJob(action, { timeoutMs: 1_000 }, SETTINGS);
  return { permissions, view };
}

Deno.test("actionJob() lets a child read its one path, and see the workspace or that path's folder", () => {
  assertEquals(needsOf(path("read", "/w/a/b.txt")), {
    permissions: { ...NOTHING, read: ["/w/a/b.txt"] },
    view: { ...UNSEEN, readOnly: ["/w"] },
  });
  assertEquals(needsOf(path("read", "/etc/motd")), {
    permissions: { ...NOTHING, read: ["/etc/motd"] },
    view: { ...UNSEEN, readOnly: ["/etc"] },
  });
  // Not in the workspace, whatever its name begins with.
  assertEquals(needsOf(path("read", "/wide/a")).view, { ...UNSEEN, readOnly: ["/wide"] });
});

Deno.test("actionJob() lets a child write in the nearest folder that exists, and nowhere else", () => {
  assertEquals(needsOf(path("write", "/w/a/b.txt")), {
    permissions: { ...NOTHING, read: ["/w/a"], write: ["/w/a"] },
    view: { ...UNSEEN, readWrite: ["/w"] },
  });
  const made = path("write", "/srv/x/y/z", {
    file: undefined,
    folder: { real: "/srv/x", dev: 1, ino: 2 },
  });
  assertEquals(needsOf(made), {
    permissions: { ...NOTHING, read: ["/srv/x"], write: ["/srv/x"] },
    view: { ...UNSEEN, readWrite: ["/srv/x"] },
  });
});

Deno.test("actionJob() gives a worker the workspace, to a tool that shares one, for what lies in it", () => {
  const turn = { sessionKey: "s", turnId: "t" };
  const workerOf = (target: Target, tool: { sharesProcess?: true } = { sharesProcess: true }) => {
    const action = { tool: "t", capability: "fs.read" as const, args: {}, target, digest: "" };
    return actionJob(action, { timeoutMs: 1_000, ...tool }, SETTINGS, turn).worker;
  };
  const read = { ...NOTHING, read: ["/w"] };
  for (const place of ["/w", "/w/a", "/w/a/b.txt"]) {
    assertEquals(workerOf(path("read", place)), { ...turn, permissions: read });
    assertEquals(workerOf(path("write", place)), {
      ...turn,
      permissions: { ...read, write: ["/w"] },
    });
    assertEquals(workerOf(path("read", place), {}), undefined);
  }
  for (const place of ["/wide/a", "/etc/motd", "/"]) {
    assertEquals(workerOf(path("read", place)), undefined);
    assertEquals(workerOf(path("write", place)), undefined);
  }
});

Deno.test("actionJob() lets a fetch reach its addresses and port alone, and no file", () => {
  const url = { kind: "url" as const, url: "https://a.example/", host: "a.example", port: 443 };
  const open = needsOf({ ...url, addresses: ["93.184.216.34", "2606:2800:220:1::1"] });
  assertEquals(open, {
    permissions: {
      ...NOTHING,
      net: ["93.184.216.34:443", "[2606:2800:220:1::1]:443"],
      denyNet: [...CLOSED_RANGES],
    },
    view: { ...UNSEEN, network: true },
  });
  // Listed in gates.privateHosts: its own range is open, the others are not.
  const { permissions } = needsOf({ ...url, port: 8080, addresses: ["127.0.0.1"] });
  assertEquals(permissions.net, ["127.0.0.1:8080"]);
  assertEquals(permissions.denyNet, CLOSED_RANGES.filter((range) => range !== "127.0.0.0/8"));
});

Deno.test("resolverJob() lets a child look its one name up, and nothing else", () => {
  const target = {
    kind: "url" as const,
    url: "https://a.example/x?y",
    host: "a.example",
    port: 443,
    addresses: [],
  };
  const { permissions, view } = resolverJob(target, SETTINGS);
  assertEquals(permissions, { ...NOTHING, net: ["a.example"] });
  assertEquals(view, { ...UNSEEN, network: true });
});

Deno.test("actionJob() makes no child for what none may have", () => {
  const targets: Target[] = [
    { kind: "unresolved", what: "x", reason: "nobody knows" },
    { kind: "chat", channel: "telegram", chatId: "5" },
    { kind: "command", argv: ["true"], program: "/usr/bin/true", cwd: "/w" },
  ];
  for (const target of targets) assertThrows(() => needsOf(target), Error, "Cannot run t");
});
