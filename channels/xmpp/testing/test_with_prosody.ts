/** Tests that share a server, each with people and rooms of its own. */

import { needs } from "../../../tests/support/needs.ts";
import { TestChannel } from "./test_channel.ts";
import { Person, type PersonOptions } from "./person.ts";
import { Prosody, PROSODY_NEEDS, type ProsodyOptions, ROOMS_DOMAIN } from "./prosody.ts";

/** What a test has, all of which is closed behind it. */
export interface World {
  server: Prosody;
  /** Somebody whose name nobody else has. */
  person(name: string, options?: PersonOptions): Promise<Person>;
  /** A channel that is connected, and in its rooms. */
  channel(...options: TestOptions): Promise<TestChannel>;
  /** Address of a room that nobody has made yet. */
  newRoom(): string;
  /** Closed behind the test, the last first. */
  use<T extends { close(): Promise<unknown> }>(one: T): T;
}

type TestOptions = Parameters<typeof TestChannel.start> extends [unknown, ...infer Rest] ? Rest
  : never;

/** A function that registers tests of a name, `<name>: <what>`. */
export function testWithProsody(
  name: string,
  options: ProsodyOptions = {},
): (what: string, run: (world: World) => Promise<void>) => void {
  let server: Prosody | undefined;
  let rooms = 0;
  if (!needs(name, ...PROSODY_NEEDS).ignore) {
    Deno.test.beforeAll(async () => {
      server = await Prosody.start(options);
    });
    Deno.test.afterAll(async () => await server?.close());
  }
  return (what, run) =>
    Deno.test({
      ...needs(`${name}: ${what}`, ...PROSODY_NEEDS),
      async fn() {
        const open: { close(): Promise<unknown> }[] = [];
        const use = <T extends { close(): Promise<unknown> }>(one: T) => {
          open.unshift(one);
          return one;
        };
        try {
          await run({
            server: server!,
            use,
            person: async (name, options) =>
              use(await Person.connect(server!, server!.newUser(name), options)),
            async channel(...options) {
              const channel = use(await TestChannel.start(server!, ...options));
              await channel.says(/^connected as (?!.*not joined yet)/);
              return channel;
            },
            newRoom: () => `room${++rooms}@${ROOMS_DOMAIN}`,
          });
        } finally {
          for (const one of open) await one.close();
        }
      },
    });
}
