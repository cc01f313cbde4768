import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { ServiceError } from "../base/errors.ts";
import type { ChannelPermissions } from "../channel/descriptor.ts";
import { channelWorkerPermissions, checkWorkerPaths } from "./worker_permissions.ts";
import { told, WorkerFixture } from "../operations/channels/testing/worker_fixture.ts";

const MODULE = "file:///program/channels/mail/runtime.ts";

const table = (permissions: Partial<ChannelPermissions>) =>
  channelWorkerPermissions({
    runtimeName: "mail.work",
    permissions: { hosts: [], paths: [], variables: [], ...permissions },
    stateDir: "/data/channels/mail.work",
    module: MODULE,
  });

Deno.test("channelWorkerPermissions() lists each host, path and variable once, with who asked", () => {
  const lib = fromFileUrl(new URL("../", import.meta.url));
  const askedBy = "channels.mail.work";
  assertEquals(
    table({
      hosts: ["imap.example.com:993", "imap.example.com:993", "10.0.0.1", "[::1]:25", "localhost"],
      paths: ["/etc/ssl/mail.pem"],
      variables: ["NODE_ENV"],
    }),
    [
      { kind: "net", value: "imap.example.com:993", askedBy },
      { kind: "net", value: "10.0.0.1", askedBy },
      { kind: "net", value: "[::1]:25", askedBy },
      { kind: "net", value: "localhost", askedBy },
      { kind: "read", value: "/data/channels/mail.work", askedBy },
      { kind: "read", value: "/etc/ssl/mail.pem", askedBy },
      { kind: "read", value: lib, askedBy },
      { kind: "read", value: "/program/channels/mail/", askedBy },
      { kind: "write", value: "/data/channels/mail.work", askedBy },
      { kind: "env", value: "NODE_ENV", askedBy },
    ],
  );
});

Deno.test("channelWorkerPermissions() says what is wrong without what is secret in it, and not at any length", () => {
  const host = `ftp://ann:hunter2hunter2@x.example/${"y".repeat(10_000)}`;
  const { message } = assertThrows(() => table({ hosts: [host] }), ServiceError);
  assert(message.includes('the host "ftp://***@x.example/yy'), message);
  assert(!message.includes("hunter2") && message.length < 600, message);
});

Deno.test("channelWorkerPermissions() refuses what names more than one host, path or variable", () => {
  for (
    const host of [
      "*",
      "*.com",
      "*.com:443",
      "*.org.uk",
      "*.1.2.3.4",
      "a.*.example.com",
      "10.0.0.0/8",
      "0.0.0.0/0",
      "",
      "a b",
      "a,b",
      "example.com:",
      "example.com:99999",
      "example.com:1:2",
      "https://example.com",
      "unix:/run/docker.sock",
      "vsock:1:2",
      "::1",
      "user@example.com",
      "example.com\n",
      "-a",
    ]
  ) {
    const error = assertThrows(() => table({ hosts: [host] }), ServiceError, "asks for the host");
    assertEquals(error.details.param, "channels.mail.work");
  }
  for (const path of ["", "relative", "./a", "~/a", "/a\0b"]) {
    assertThrows(() => table({ paths: [path] }), ServiceError, "an absolute path");
  }
  for (const name of ["", "*", "AWS_*", "A B", "A=B", "1A"]) {
    assertThrows(() => table({ variables: [name] }), ServiceError, "the name of one");
  }
});

Deno.test("checkWorkerPaths() lets no path lead into the home, by links neither", async () => {
  const home = await Deno.realPath(await Deno.makeTempDir());
  const outside = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${home}/keys`);
    await Deno.writeTextFile(`${outside}/cert.pem`, "");
    await Deno.symlink(`${home}/keys`, `${outside}/link`);
    const check = (path: string) =>
      checkWorkerPaths({
        runtimeName: "mail",
        permissions: { hosts: [], paths: [path], variables: [] },
      }, [home, `${home}/not_there`]);
    await check(`${outside}/cert.pem`);
    await check(`${outside}/not_there.pem`);
    await check(`${home}2`);
    for (
      const path of [
        home,
        `${home}/`,
        `${home}/config.json`,
        `${home}/keys/audit.key`,
        `${outside}/link`,
        `${outside}/link/audit.key`,
        `${outside}/../${home.split("/").at(-1)}/keys`,
        `${home}/..`,
        "/",
      ]
    ) await assertRejects(() => check(path), ServiceError, "the service's own files");
  } finally {
    await Deno.remove(home, { recursive: true });
    await Deno.remove(outside, { recursive: true });
  }
});

Deno.test("a worker has what its table lists, and nothing else", async () => {
  const fixture = await WorkerFixture.open();
  const file = await Deno.makeTempFile();
  try {
    const source = fixture.source({
      permissions: {
        hosts: ["127.0.0.1:8999", "example.com", "*.chat.example", "*.files.example.org:443"],
        paths: [file],
        variables: ["WORKER_TEST_OWN"],
      },
    });
    const { runtimeName, stateDir, module } = source.boot;
    const listed = channelWorkerPermissions({
      runtimeName,
      stateDir,
      module,
      permissions: source.permissions,
    });
    const channel = await fixture.build({ permissions: source.permissions });
    const state = async (descriptor: Record<string, string>) =>
      await told(channel, "try query", { descriptor });
    const describe = { net: "host", read: "path", write: "path", env: "variable" } as const;
    for (const { kind, value } of listed.filter(({ value }) => !value.startsWith("*."))) {
      assertEquals(
        await state({ name: kind, [describe[kind]]: value }),
        "allowed: granted",
        `${kind} ${value}`,
      );
    }
    for (const host of ["a.chat.example:80", "b.a.chat.example", "a.files.example.org:443"]) {
      assertEquals(await state({ name: "net", host }), "allowed: granted", host);
    }
    assertEquals(
      listed.filter(({ value }) => value.startsWith("*.")).map(({ value }) => value),
      ["*.chat.example", "*.files.example.org:443"],
    );
    const not: Record<string, string>[] = [
      { name: "net", host: "chat.example.org" },
      { name: "net", host: "achat.example" },
      { name: "net", host: "a.files.example.org:80" },
      { name: "net", host: "a.files.example.org" },
      { name: "net" },
      { name: "net", host: "127.0.0.1" },
      { name: "net", host: "127.0.0.1:8998" },
      { name: "net", host: "www.example.com" },
      { name: "read" },
      { name: "read", path: fixture.dataDir },
      { name: "read", path: `${stateDir}2` },
      { name: "write" },
      { name: "write", path: file },
      { name: "env" },
      { name: "env", variable: "HOME" },
      { name: "run" },
      { name: "sys" },
      { name: "ffi" },
      { name: "import" },
    ];
    for (const descriptor of not) {
      const came = await state(descriptor);
      assert(
        came !== "allowed: granted" && came.startsWith("allowed: "),
        JSON.stringify(descriptor),
      );
    }
  } finally {
    await Deno.remove(file);
    await fixture.close();
  }
});

Deno.test("checkWorkerPaths() refuses a path of which nobody can tell where it leads, in words", async () => {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.symlink(`${folder}/loop`, `${folder}/loop`);
    await Deno.writeTextFile(`${folder}/file`, "");
    for (const path of [`${folder}/loop`, `${folder}/file/x`, `/${"x".repeat(10_000)}`]) {
      const permissions = { hosts: [], variables: [], paths: [path] };
      const error = await assertRejects(
        () => checkWorkerPaths({ runtimeName: "mail", permissions }, [`${folder}/home`]),
        ServiceError,
        "nobody can tell where that leads",
      );
      assertEquals(error.code, "config_invalid");
      assert(error.message.length < 600);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
