import { assertEquals, assertStringIncludes } from "@std/assert";
import { makePipe } from "../../../tests/support/make_pipe.ts";
import type { PathTarget, UnresolvedTarget } from "../../contract/actions.ts";
import { resolvePath, resolveUrl } from "./resolve.ts";

async function withFolder(
  test: (root: string, resolve: typeof resolvePath) => Promise<void>,
): Promise<void> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    await test(root, resolvePath);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test("resolvePath() gives the real path, its file and the folder that exists", async () => {
  await withFolder(async (root) => {
    await Deno.mkdir(`${root}/ws/sub`, { recursive: true });
    await Deno.writeTextFile(`${root}/ws/sub/a.txt`, "a");
    await Deno.symlink("ws", `${root}/alias`);
    await Deno.symlink("sub", `${root}/ws/link`);
    const info = await Deno.stat(`${root}/ws/sub/a.txt`);
    const sub = await Deno.stat(`${root}/ws/sub`);
    const workspace = { path: `${root}/alias`, real: `${root}/ws` };
    const expected: PathTarget = {
      kind: "path",
      access: "read",
      path: `${root}/alias/sub/a.txt`,
      real: `${root}/ws/sub/a.txt`,
      viaLink: false,
      file: { isDirectory: false, dev: info.dev, ino: info.ino!, links: 1 },
      folder: { real: `${root}/ws/sub`, dev: sub.dev, ino: sub.ino! },
    };
    // The workspace's own link is the operator's, and no link on the way.
    assertEquals(await resolvePath("sub/a.txt", "read", workspace), expected);
    assertEquals(await resolvePath("./x/../sub//a.txt", "read", workspace), expected);
    const viaLink = await resolvePath("link/a.txt", "read", workspace) as PathTarget;
    assertEquals([viaLink.real, viaLink.viaLink], [expected.real, true]);
    const fresh = await resolvePath("sub/new/b.txt", "write", workspace) as PathTarget;
    assertEquals([fresh.real, fresh.file], [`${root}/ws/sub/new/b.txt`, undefined]);
    assertEquals(fresh.folder, expected.folder);
    const freshViaLink = await resolvePath("link/new.txt", "write", workspace) as PathTarget;
    assertEquals([freshViaLink.real, freshViaLink.viaLink], [`${root}/ws/sub/new.txt`, true]);
    const dots = await resolvePath("..name/b", "write", workspace) as PathTarget;
    assertEquals([dots.real, dots.viaLink], [`${root}/ws/..name/b`, false]);
  });
});

Deno.test("resolvePath() counts hard links", async () => {
  await withFolder(async (root) => {
    await Deno.writeTextFile(`${root}/a`, "a");
    await Deno.link(`${root}/a`, `${root}/b`);
    const target = await resolvePath("b", "read", { path: root, real: root }) as PathTarget;
    assertEquals(target.file?.links, 2);
  });
});

Deno.test("resolvePath() is unresolved for what is no plain file, folder or new name", async () => {
  await withFolder(async (root) => {
    await Deno.writeTextFile(`${root}/file`, "");
    await Deno.symlink("nothing", `${root}/dangling`);
    await Deno.symlink("circle", `${root}/circle`);
    makePipe(`${root}/pipe`);
    const cases: [string, string][] = [
      ["", "blank"],
      ["  ", "blank"],
      ["a\0b", "NUL"],
      ["\ud800", "half of a character"],
      ["x".repeat(256), "longer than 255 bytes"],
      ["ä".repeat(128), "longer than 255 bytes"],
      ["a/".repeat(2_049), "longer than 4096 bytes"],
      ["dangling", "leads to nothing"],
      ["dangling/x", "leads to nothing"],
      ["circle", "circle"],
      ["file/x", "a folder is expected"],
      ["pipe", "neither a file nor a folder"],
      ["/dev/null", "neither a file nor a folder"],
    ];
    for (const [path, reason] of cases) {
      const target = await resolvePath(path, "read", { path: root, real: root });
      assertEquals([path.slice(0, 20), target.kind], [path.slice(0, 20), "unresolved"]);
      assertStringIncludes((target as UnresolvedTarget).reason, reason);
    }
  });
});

Deno.test("resolveUrl() gives host and port as the URL standard reads them", () => {
  const cases: [string, string, number, string[]][] = [
    ["https://Example.COM/a?b#c", "example.com", 443, []],
    ["http://example.com.:8080/", "example.com", 8080, []],
    ["http://münchen.example/", "xn--mnchen-3ya.example", 80, []],
    ["http://2130706433/", "127.0.0.1", 80, ["127.0.0.1"]],
    ["http://0x7f.1:81/", "127.0.0.1", 81, ["127.0.0.1"]],
    ["http://[::FFFF:127.0.0.1]/", "::ffff:7f00:1", 80, ["::ffff:7f00:1"]],
    ["http:example.com", "example.com", 80, []],
  ];
  for (const [text, host, port, addresses] of cases) {
    const target = resolveUrl(text);
    if (target.kind !== "url") throw new Error(`${text}: ${target.reason}`);
    assertEquals([target.host, target.port, target.addresses], [host, port, addresses]);
    assertEquals(target.url.includes("#"), false);
  }
});

Deno.test("resolveUrl() is unresolved for a host that is neither a name nor an address", () => {
  for (
    const host of [
      "a,127.0.0.1",
      "example.com,localhost",
      "*",
      "*.example.com",
      "a..example.com",
      "example.com..",
      ".example.com",
      "a;b",
      "a=b",
      "$(id).example.com",
      "a'b",
      `${"a".repeat(64)}.example.com`,
      `${"a.".repeat(130)}example.com`,
    ]
  ) {
    const target = resolveUrl(`http://${host}/`);
    assertEquals([host, target.kind], [host, "unresolved"]);
  }
  for (const host of ["_dmarc.example.com", "a-b.example.com", "localhost", "xn--mnchen-3ya.de"]) {
    assertEquals([host, resolveUrl(`http://${host}/`).kind], [host, "url"]);
  }
});
