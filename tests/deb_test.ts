/** The Debian package: what is in it, and its installation and removal on a copy of this machine's files. */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { debName, makeDeb } from "../release/deb.ts";
import { VERSION } from "../cli/version.ts";
import { mountNeeds } from "./support/mounts.ts";
import { needs, programPath } from "./support/needs.ts";

const NAME = debName("linux-x64")!;

/** A package whose program is a script, in a folder. */
async function makePackage() {
  const dir = await Deno.realPath(await Deno.makeTempDir());
  await Deno.writeTextFile(`${dir}/service`, "#!/bin/sh\necho it runs\n");
  const path = `${dir}/${NAME}`;
  await makeDeb({ target: "linux-x64", program: `${dir}/service`, path, mtime: 1_600_000_000 });
  return { dir, path, [Symbol.asyncDispose]: () => Deno.remove(dir, { recursive: true }) };
}

async function run(command: string, ...args: string[]) {
  const { code, stdout, stderr } = await new Deno.Command(command, { args, stdin: "null" })
    .output();
  const decoder = new TextDecoder();
  return { code, text: decoder.decode(stdout) + decoder.decode(stderr) };
}

Deno.test({
  ...needs(
    "the package holds the program, its unit and nothing that dpkg calls configuration",
    "dpkg-deb",
  ),
  async fn() {
    await using made = await makePackage();
    const dpkgDeb = programPath("dpkg-deb");
    const fields = await run(dpkgDeb, "--field", made.path);
    assertStringIncludes(fields.text, "Package: service\n");
    assertStringIncludes(fields.text, `Version: ${VERSION.replace("-", "~")}\n`);
    assertStringIncludes(fields.text, "Recommends: bubblewrap");
    const { text } = await run(dpkgDeb, "--contents", made.path);
    const files = text.trim().split("\n").filter((line) => !line.startsWith("d"))
      .map((line) => line.replace(/ +/g, " ").split(" ")).map(([mode, owner, , , , path]) =>
        `${mode} ${owner} ${path}`
      );
    assertEquals(files, [
      "-rwxr-xr-x root/root ./usr/bin/service",
      "-rw-r--r-- root/root ./usr/lib/systemd/system/service.service",
      "-rw-r--r-- root/root ./usr/share/doc/service/changelog",
      "-rw-r--r-- root/root ./usr/share/doc/service/copyright",
    ]);
    const { text: control } = await run(dpkgDeb, "--info", made.path);
    assert(!control.includes("conffiles"));
    // The same files make the same package.
    const before = await Deno.readFile(made.path);
    await makeDeb({
      target: "linux-x64",
      program: `${made.dir}/service`,
      path: made.path,
      mtime: 1_600_000_000,
    });
    assertEquals(await Deno.readFile(made.path), before);
  },
});

/** Runs a script as root of a copy of this machine's files, which nothing outside sees. */
async function inCopy(dir: string, script: string) {
  const root = `${dir}/root`;
  await Promise.all(["root", "changes", "work"].map((name) => Deno.mkdir(`${dir}/${name}`)));
  // Where a PATH of users names no folder of administrators.
  const enter = `set -e; PATH=$PATH:/usr/sbin:/sbin
    mount -t tmpfs tmpfs "$1/changes" && mkdir "$1/changes/up" "$1/changes/work"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes/up,workdir=$1/changes/work" "$1/root"
    mount -t tmpfs tmpfs "$1/root/run" && mount -t tmpfs tmpfs "$1/root/tmp"
    mount -t proc proc "$1/root/proc"; : > "$1/root/dev/null"; mount --bind /dev/null "$1/root/dev/null"
    cp "$1/${NAME}" "$1/root/run/"
    exec chroot "$1/root" sh -ec "$2"`;
  const args = [
    "--mount",
    "--fork",
    "--pid",
    "--kill-child",
    "sh",
    "-ec",
    enter,
    "sh",
    dir,
    script,
  ];
  const ended = await run(programPath("unshare"), ...args);
  await Deno.remove(root);
  return ended;
}

Deno.test({
  ...needs(
    "the package is installed, again, removed and purged, and keeps the home",
    ...["dpkg-deb", "dpkg", "unshare", "useradd", "sh"] as const,
    ...mountNeeds(),
  ),
  async fn() {
    await using made = await makePackage();
    const { code, text } = await inCopy(
      made.dir,
      `export PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive
      dpkg --force-depends --install /run/${NAME}
      echo "program: $(/usr/bin/service)"
      getent passwd service
      stat -c '%U %G %a' /var/lib/service
      echo kept > /var/lib/service/file
      dpkg --force-depends --install /run/${NAME}
      dpkg --remove service
      [ ! -e /usr/bin/service ] && echo removed
      dpkg --purge service
      cat /var/lib/service/file
      dpkg --force-depends --install /run/${NAME}
      stat -c '%U %G %a' /var/lib/service`,
    );
    assertEquals(code, 0, text);
    assertStringIncludes(text, "program: it runs\n");
    assertStringIncludes(text, ":/var/lib/service:/usr/sbin/nologin\n");
    assertEquals(text.match(/^service service 700$/gm)?.length, 2);
    // Only a first installation says what to do.
    assertEquals(text.match(/^service is installed\./gm)?.length, 2, text);
    assertStringIncludes(text, "removed\n");
    assertStringIncludes(
      text,
      "Kept /var/lib/service, with all conversations, keys and settings\n",
    );
    assertStringIncludes(text, "\nkept\n");
  },
});

Deno.test({
  ...needs(
    "the package refuses a machine with another user of its name",
    ...["dpkg-deb", "dpkg", "unshare", "useradd", "sh"] as const,
    ...mountNeeds(),
  ),
  async fn() {
    await using made = await makePackage();
    const { code, text } = await inCopy(
      made.dir,
      `export PATH=/usr/sbin:/usr/bin:/sbin:/bin
      useradd --create-home service
      dpkg --force-depends --install /run/${NAME}`,
    );
    assertEquals(code, 1, text);
    assertStringIncludes(text, "there is another user named service, whose home is /home/service");
  },
});
