/**
 * What `service channels` works on.
 *
 * @module
 */

import type { WorkerSource } from "../../lib/channel_worker/worker_source.ts";
import type { ConfiguredChannels } from "../../lib/registry/worker_source_of.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { Globals } from "../command.ts";
import { type ConfirmDeps, processConfirm } from "../confirm.ts";
import type { Output } from "../output.ts";
import type { ConnectAsked, OpenConnection } from "./connect_in_worker.ts";

/** Handed in, so that tests need no process. */
export interface ChannelsDeps {
  /** Rejects with `not_found` when no service runs. */
  withRunning<T>(globals: Globals, use: (client: LocalClient) => Promise<T>): Promise<T>;
  /** Channels as they are configured; rejects with `config_invalid`. */
  configured(globals: Globals): Promise<ConfiguredChannels>;
  /** Logs an instance in, in a worker of its own in this process; undefined where there is no login. */
  login(
    asked: { configured: ConfiguredChannels; source: WorkerSource; force: boolean },
    globals: Globals,
    out: Output,
  ): Promise<boolean | undefined>;
  /** Gives `use` a connection of an instance that is connected step by step. */
  connect<T>(
    asked: ConnectAsked,
    globals: Globals,
    out: Output,
    use: (connection: OpenConnection) => Promise<T>,
  ): Promise<T>;
  /** Runs `work` with a signal that Ctrl-C aborts. */
  withInterrupts<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** One line of standard input; undefined at its end. */
  readLine(): Promise<string | undefined>;
  /** Asks a person at the terminal, where there is one. */
  confirm(out: Output): ConfirmDeps;
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds since some moment. */
  elapsed(): number;
  /** Resolves after `ms`. */
  sleep(ms: number): Promise<void>;
}

/** What a command of this process works on. */
export const processChannelsDeps: ChannelsDeps = {
  async withRunning(globals, use) {
    const { withRunningService } = await import("../operator/running_service.ts");
    const none = "no channels are running. Start it with: service start";
    return await withRunningService(globals, none, use);
  },
  async configured(globals) {
    const [{ loadConfig }, { homePaths }, { loadChannels }] = await Promise.all([
      import("../../lib/settings/load.ts"),
      import("../home_paths.ts"),
      import("../plugins/deps.ts"),
    ]);
    const paths = homePaths(globals);
    const { config } = await loadConfig({
      paths,
      env: (name) => Deno.env.get(name),
      lastGood: globals.lastGood,
      keepLastGood: false,
    });
    return { registry: await loadChannels(), config, dataDir: paths.dataDir };
  },
  async login(asked, globals, out) {
    const { loginInWorker } = await import("./login_in_worker.ts");
    return await loginInWorker(asked, globals, out);
  },
  async connect(asked, globals, out, use) {
    const { connectInWorker } = await import("./connect_in_worker.ts");
    return await connectInWorker(asked, globals, out, use);
  },
  async withInterrupts(work) {
    const { processSignals, withInterrupts } = await import("../agent/interrupts.ts");
    return await withInterrupts(processSignals, () => {}, work);
  },
  async readLine() {
    return await (await import("../confirm.ts")).readTerminalLine();
  },
  confirm: processConfirm,
  now: Date.now,
  elapsed: () => performance.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
};
