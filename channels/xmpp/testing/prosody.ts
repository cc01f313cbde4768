/**
 * A real server for tests: Debian's prosody, on free ports of 127.0.0.1, with a configuration, data and
 * certificate of its own. Everybody whose name is a word is a user, with the same password.
 *
 * @module
 */

import { join } from "@std/path";
import { makeCertificate } from "../../../tests/support/certificate.ts";
import { freePort } from "../../../tests/support/free_port.ts";
import { programPath } from "../../../tests/support/needs.ts";
import { prosodyConfig, REFUSING_MODULE, TESTING_AUTH_MODULE } from "./prosody_config.ts";

/** Everybody's. */
export const XMPP_PASSWORD = "correct horse battery";

/** The domain of the users; that of rooms and of files lie under it. */
export const XMPP_DOMAIN = "localhost";
export const ROOMS_DOMAIN = `conference.${XMPP_DOMAIN}`;

/** What a test with one needs. */
export const PROSODY_NEEDS = ["prosody", "openssl"] as const;

/** What a server can do. */
export interface ProsodyOptions {
  /** Modules that are left out, such as `mam` or `smacks`. */
  without?: readonly string[];
  /** Logins by SCRAM, as nearly every server has it, instead of PLAIN. */
  scram?: boolean;
  /** Whether archives of accounts keep anything. */
  archives?: boolean;
}

export class Prosody {
  readonly dir: string;
  /** For STARTTLS, and for people of tests without. */
  readonly port: number;
  /** Encrypted from the first byte. */
  readonly tlsPort: number;
  readonly filesPort: number;
  #process: Deno.ChildProcess | undefined;
  #users = 0;

  private constructor(dir: string, ports: { port: number; tlsPort: number; filesPort: number }) {
    this.dir = dir;
    ({ port: this.port, tlsPort: this.tlsPort, filesPort: this.filesPort } = ports);
  }

  static async start(
    { without = [], scram = false, archives = true }: ProsodyOptions = {},
  ): Promise<Prosody> {
    const dir = await Deno.realPath(await Deno.makeTempDir({ prefix: "prosody-" }));
    const ports = { port: freePort(), tlsPort: freePort(), filesPort: freePort() };
    await makeCertificate(dir);
    for (const name of ["data", "modules"]) await Deno.mkdir(join(dir, name));
    await Deno.writeTextFile(join(dir, "modules", "mod_refusing.lua"), REFUSING_MODULE);
    await Deno.writeTextFile(join(dir, "modules", "mod_auth_testing.lua"), TESTING_AUTH_MODULE);
    await Deno.writeTextFile(
      join(dir, "prosody.cfg.lua"),
      prosodyConfig({
        dir,
        domain: XMPP_DOMAIN,
        roomsDomain: ROOMS_DOMAIN,
        password: XMPP_PASSWORD,
        without,
        scram,
        archives,
        ...ports,
      }),
    );
    const server = new Prosody(dir, ports);
    await server.run();
    return server;
  }

  /** Certificate of the authority, for `caFile`. */
  get caFile(): string {
    return join(this.dir, "ca.pem");
  }

  /** A name that nobody has had yet. */
  newUser(name = "user"): string {
    return `${name}${++this.#users}`;
  }

  /** Starts it, also once more; resolves when it takes connections. */
  async run(): Promise<void> {
    this.#process = new Deno.Command(programPath("prosody"), {
      args: ["--config", join(this.dir, "prosody.cfg.lua"), "-F"],
      cwd: this.dir,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const ended = this.#process.status.then(() => true);
    for (const port of [this.port, this.tlsPort, this.filesPort]) {
      for (;;) {
        try {
          (await Deno.connect({ hostname: "127.0.0.1", port })).close();
          break;
        } catch {
          const again = new Promise<false>((go) => setTimeout(() => go(false), 10));
          if (await Promise.race([ended, again])) throw new Error(await this.log());
        }
      }
    }
  }

  /** The next message of a user is answered with an error. */
  refuseNext(user: string, error: { type: string; condition: string }): void {
    const path = join(this.dir, `refuse-${user}`);
    Deno.writeTextFileSync(`${path}.new`, `${error.type} ${error.condition}`);
    Deno.renameSync(`${path}.new`, path);
  }

  /** Nobody logs in as this user any more. */
  revoke(user: string): void {
    Deno.writeTextFileSync(join(this.dir, `revoked-${user}`), "");
  }

  log(): Promise<string> {
    return Deno.readTextFile(join(this.dir, "prosody.log")).catch(String);
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    const running = this.#process;
    this.#process = undefined;
    try {
      running?.kill("SIGKILL");
    } catch {
      // It has ended by itself.
    }
    await running?.status;
  }

  async close(): Promise<void> {
    await this.kill();
    await Deno.remove(this.dir, { recursive: true });
  }
}
