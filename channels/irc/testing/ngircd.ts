/** A real server for tests: Debian's ngircd, on a free port with a configuration of its own. */

import { join } from "@std/path";
import { programPath } from "../../../tests/support/needs.ts";
import { freePort } from "../../../tests/support/free_port.ts";

export class Ngircd {
  readonly port: number;
  readonly #dir: string;
  #process: Deno.ChildProcess | undefined;

  private constructor(port: number, dir: string) {
    this.port = port;
    this.#dir = dir;
  }

  static async start({ password = "" }: { password?: string } = {}): Promise<Ngircd> {
    const port = freePort();
    const dir = await Deno.makeTempDir({ prefix: "ngircd-" });
    // It gives up root, where it has it, before it reads some of this.
    await Deno.chmod(dir, 0o755);
    await Deno.writeTextFile(
      join(dir, "ngircd.conf"),
      [
        "[Global]",
        "Name = irc.test.example",
        "Info = A server of a test",
        "Listen = 127.0.0.1",
        `Ports = ${port}`,
        "MotdPhrase = Hello",
        ...password === "" ? [] : [`Password = ${password}`],
        "[Limits]",
        "MaxConnectionsIP = 0",
        "MaxNickLength = 20",
        // Tests send faster than people do.
        "MaxPenaltyTime = 0",
        "[Options]",
        "DNS = no",
        "Ident = no",
        "PAM = no",
        "",
      ].join("\n"),
    );
    const server = new Ngircd(port, dir);
    await server.run();
    return server;
  }

  /** Starts it, also once more; resolves when it takes connections. */
  async run(): Promise<void> {
    this.#process = new Deno.Command(programPath("ngircd"), {
      args: ["-n", "-f", join(this.#dir, "ngircd.conf")],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const ended = this.#process.status;
    for (;;) {
      try {
        (await Deno.connect({ hostname: "127.0.0.1", port: this.port })).close();
        return;
      } catch {
        const over = await Promise.race([ended, new Promise((go) => setTimeout(go, 10))]);
        if (over !== undefined) throw new Error("ngircd has ended: see its configuration");
      }
    }
  }

  /** As a crash would. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.status;
    this.#process = undefined;
  }

  async close(): Promise<void> {
    await this.kill();
    await Deno.remove(this.#dir, { recursive: true });
  }
}

/** Somebody on that server. */
export class Person {
  /** Every line that has come. */
  readonly lines: string[] = [];
  readonly #connection: Deno.Conn;
  readonly #reading: Promise<void>;
  #changed = Promise.withResolvers<void>();
  #isOver = false;

  private constructor(connection: Deno.Conn) {
    this.#connection = connection;
    this.#reading = this.#read();
  }

  static async connect(
    port: number,
    nick: string,
    channels: readonly string[] = [],
  ): Promise<Person> {
    const person = new Person(await Deno.connect({ hostname: "127.0.0.1", port }));
    await person.say(`NICK ${nick}`, `USER ${nick} 0 * :${nick}`);
    await person.line(/ (376|422) /);
    for (const channel of channels) {
      await person.say(`JOIN ${channel}`);
      await person.line(new RegExp(` 366 ${nick} ${channel.split(" ")[0]} `));
    }
    return person;
  }

  async say(...lines: string[]): Promise<void> {
    const bytes = new TextEncoder().encode(lines.map((line) => `${line}\r\n`).join(""));
    for (let at = 0; at < bytes.length;) at += await this.#connection.write(bytes.subarray(at));
  }

  /** Resolves with the first line that matches, also one that has come before. */
  async line(pattern: RegExp): Promise<string> {
    for (;;) {
      const found = this.lines.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.#isOver) throw new Error(`The server has closed: ${this.lines.at(-1)}`);
      await this.#changed.promise;
    }
  }

  /** As `heard`, as soon as the last of them is this one. */
  async hears(nick: string, target: string, last: string): Promise<string[]> {
    for (;;) {
      const all = this.heard(nick, target);
      if (all.at(-1)?.endsWith(last)) return all;
      if (this.#isOver) throw new Error(`The server has closed: ${this.lines.at(-1)}`);
      await this.#changed.promise;
    }
  }

  /** Texts that somebody has sent to a target, in order. */
  heard(nick: string, target: string): string[] {
    return this.lines.flatMap((line) => {
      const found = /^:([^! ]+)\S* PRIVMSG (\S+) :(.*)$/.exec(line);
      return found?.[1] === nick && found[2] === target ? [found[3]!] : [];
    });
  }

  async close(): Promise<void> {
    this.#isOver = true;
    this.#connection.close();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    const chunk = new Uint8Array(64 * 1024);
    let rest = "";
    for (;;) {
      const size = await this.#connection.read(chunk).catch(() => null);
      if (size === null) break;
      rest += decoder.decode(chunk.subarray(0, size), { stream: true });
      const lines = rest.split("\r\n");
      rest = lines.pop()!;
      for (const line of lines) {
        if (line.startsWith("PING ")) await this.say(line.replace("PING", "PONG")).catch(() => {});
        this.lines.push(line);
      }
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    }
    this.#isOver = true;
    this.#changed.resolve();
  }
}
