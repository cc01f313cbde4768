/** Exports that are no runtimes, each in another way. */

import { BaseChannel } from "../../channel/base_channel.ts";

abstract class Half extends BaseChannel {
  isRunning = false;
  start = () => Promise.resolve();
  stop = () => Promise.resolve();
}

/** Its name is not that of its export. */
export class Named extends Half {
  send = () => Promise.resolve();
}
export { Named as OtherName };

/** Has no send(). */
export class NoSend extends (Half as unknown as { new (...all: unknown[]): object }) {}

/** Extends nothing. */
export class NoBase {
  send = () => Promise.resolve();
}

/** Is no class. */
export function NoClass() {}

/** Throws while it is made. */
export class Thrower extends Half {
  send = () => Promise.resolve();
  constructor(...[config, host]: ConstructorParameters<typeof BaseChannel>) {
    super(config, host);
    throw new Error(`cannot be made with ${(config as unknown as { token: string }).token}`);
  }
}

/** Is right, and said to be running as a text. */
export class OddRunning extends (Half as unknown as { new (...all: unknown[]): object }) {
  send = () => Promise.resolve();
  isRunning = "yes";
}

/** A text. */
export const Text = "text";
