/**
 * Real mail servers for tests, dovecot and exim of Debian, on free ports of 127.0.0.1 and with a folder
 * of their own. Mails for the users of `test` come in over SMTP and are read over IMAP.
 *
 * @module
 */

import { join } from "@std/path";
import { makeCertificate } from "../../../tests/support/certificate.ts";
import { freePort } from "../../../tests/support/free_port.ts";
import { programPath } from "../../../tests/support/needs.ts";
import { dovecotConfig, eximConfig } from "./server_configs.ts";

/** Users, each as `<name>@test`; and `agent1@test` and so on, where tests share servers. */
export const MAIL_USERS = ["agent", "work", "alice", "bob"] as const;

/** Accounts with a number. */
export const MAX_NUMBERED = 64;

/** Everybody's. */
export const MAIL_PASSWORD = "secret password";

/** Who says hello by this name is vouched for: exim adds `dmarc=pass` of mx.test. */
export const VERIFIED_HELO = "verified.test";

/** Users of the machine as whom servers run where a test runs as root, which they refuse. */
const NOBODY = { uid: 65_534, gid: 65_534, user: "nobody", group: "nogroup" };

/** What a test with them needs. */
export const MAIL_SERVER_NEEDS = ["dovecot", "exim", "openssl"] as const;

/** A server that can be stopped and started again at its ports. */
export interface MailServerProcess {
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface MailServers extends AsyncDisposable {
  readonly dir: string;
  /** Certificate of the CA, for `tlsCaFile`. */
  readonly caFile: string;
  readonly imap: MailServerProcess & { port: number; tlsPort: number };
  readonly smtp: MailServerProcess & { port: number; tlsPort: number };
  /** Text of the logs, for a test that failed. */
  logs(): Promise<string>;
}

/** Starts both. `imapCapability`: what the IMAP server says that it can, instead of all. */
export async function startMailServers(
  { imapCapability }: { imapCapability?: string } = {},
): Promise<MailServers> {
  const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "mail-" }));
  const isRoot = Deno.uid() === 0;
  const who = isRoot ? NOBODY : await self();
  for (const name of ["log", "mail", "run", "spool", "certs"]) await Deno.mkdir(join(dir, name));
  await makeCertificate(join(dir, "certs"));
  // Its owner is another user soon, and a channel reads the authority's certificate.
  await Deno.chmod(dir, 0o711);
  const ports = {
    imap: freePort(),
    imaps: freePort(),
    smtp: freePort(),
    smtps: freePort(),
  };
  const write = (name: string, text: string) => Deno.writeTextFile(join(dir, name), text);
  const numbered = Array.from({ length: MAX_NUMBERED }, (_, index) => `agent${index + 1}`);
  const users = [...MAIL_USERS, ...numbered];
  await write("users", users.map((user) => `${user}: ${user}\n`).join(""));
  await write(
    "passwd",
    users.map((user) => `${user}@test:{PLAIN}${MAIL_PASSWORD}::::${dir}/mail/${user}::\n`)
      .join(""),
  );
  await write("dovecot.conf", dovecotConfig(dir, who, { ...ports, imapCapability }));
  await write("exim.conf", eximConfig(dir, who, ports));
  if (isRoot) await give(dir, who);
  const run: Deno.CommandOptions = {
    cwd: dir,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    ...isRoot && { uid: who.uid, gid: who.gid },
  };
  const imap = server(
    () =>
      new Deno.Command(programPath("dovecot"), {
        args: ["-F", "-c", join(dir, "dovecot.conf")],
        ...run,
      }).spawn(),
    ports.imap,
  );
  const smtp = server(
    () =>
      new Deno.Command(programPath("exim"), {
        args: ["-C", join(dir, "exim.conf"), "-bdf", "-q2s"],
        ...run,
      }).spawn(),
    ports.smtp,
  );
  const servers: MailServers = {
    dir,
    caFile: join(dir, "certs", "ca.pem"),
    imap: { ...imap, port: ports.imap, tlsPort: ports.imaps },
    smtp: { ...smtp, port: ports.smtp, tlsPort: ports.smtps },
    async logs() {
      let text = "";
      for await (const { name } of Deno.readDir(join(dir, "log"))) {
        text += `--- ${name}\n${await Deno.readTextFile(join(dir, "log", name))}`;
      }
      return text;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([imap.stop(), smtp.stop()]);
      await Deno.remove(dir, { recursive: true });
    },
  };
  try {
    await Promise.all([imap.start(), smtp.start()]);
  } catch (error) {
    const text = await servers.logs();
    await servers[Symbol.asyncDispose]();
    throw new Error(`The mail servers do not start: ${text}`, { cause: error });
  }
  return servers;
}

async function self(): Promise<typeof NOBODY> {
  const ask = async (flag: string) => {
    const { stdout } = await new Deno.Command("id", { args: [flag, "-n"] }).output();
    return new TextDecoder().decode(stdout).trim();
  };
  return {
    uid: Deno.uid()!,
    gid: Deno.gid()!,
    user: await ask("-u"),
    group: await ask("-g"),
  };
}

async function give(path: string, { uid, gid }: typeof NOBODY): Promise<void> {
  await Deno.chown(path, uid, gid);
  if (!(await Deno.stat(path)).isDirectory) return;
  for await (const { name } of Deno.readDir(path)) {
    await give(join(path, name), { ...NOBODY, uid, gid });
  }
}

function server(make: () => Deno.ChildProcess, port: number): MailServerProcess {
  let child: Deno.ChildProcess | undefined;
  return {
    async start() {
      child = make();
      const ended = child.status.then(({ code }) => {
        throw new Error(`It ended with ${code}`);
      });
      ended.catch(() => {});
      await Promise.race([ended, opened(port)]);
    },
    async stop() {
      const running = child;
      child = undefined;
      if (running === undefined) return;
      try {
        running.kill("SIGTERM");
      } catch {
        // It has ended by itself.
      }
      await running.status;
    },
  };
}

/** A server says by nothing else that its port is open. */
async function opened(port: number): Promise<void> {
  for (const until = Date.now() + 60_000;;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch (error) {
      if (Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
