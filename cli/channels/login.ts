/**
 * `service channels login`.
 *
 * @module
 */

import { findChannel } from "../../lib/operations/channels/find_channel.ts";
import { instancesOf } from "../../lib/channel/management/instances_of.ts";
import { sectionOf, workerSource } from "../../lib/registry/worker_source_of.ts";
import { ServiceError } from "../../lib/base/errors.ts";
import { EXIT, type ExitCode, type Globals } from "../command.ts";
import type { Output } from "../output.ts";
import { connect } from "./connect.ts";
import type { ChannelsDeps } from "./deps.ts";

/** Who is to be logged in. */
export interface LoginAsked {
  name: string;
  instanceId?: string;
  /** Even if it is logged in already. */
  force: boolean;
}

/** Logs it in, by its connector where it has one; fails when the channel says that it is not. */
export async function login(
  out: Output,
  deps: ChannelsDeps,
  { name, instanceId, force }: LoginAsked,
  globals: Globals,
): Promise<ExitCode> {
  const configured = await deps.configured(globals);
  const channel = findChannel(configured.registry, name);
  if (channel.connector !== undefined) {
    const asked = { configured, channel, instanceId };
    const { isConnected, hasWritten } = await connect(out, deps, asked, globals);
    if (globals.json) out.json({ channel: name, loggedIn: isConnected });
    else if (isConnected) {
      const { config } = await deps.configured(globals);
      const isOn = instancesOf(channel, sectionOf(config, channel)).some((one) =>
        one.enabled && (one.instanceId ?? "default") === (instanceId ?? "default")
      );
      noteNext(out, { name, instanceId }, isOn ? hasWritten ? "nothing" : "anew" : "on");
    }
    return isConnected ? EXIT.done : EXIT.failed;
  }
  const instances = instancesOf(channel, sectionOf(configured.config, channel));
  const wanted = instanceId ?? (channel.adapter === undefined ? undefined : "default");
  const instance = instances.find((one) => one.instanceId === wanted);
  if (instance === undefined) {
    const known = instances.flatMap(({ instanceId }) => instanceId ?? []);
    throw new ServiceError(
      "not_found",
      `No instance ${JSON.stringify(wanted)} of ${name}; ` +
        (known.length === 0 ? "it has none" : `expected one of ${known.join(", ")}`),
      { param: "instance" },
    );
  }
  const { runtimeName } = instance;
  const loggedIn = channel.descriptor.capabilities.includes("in_service")
    ? undefined
    : await deps.login(
      {
        configured,
        source: workerSource(configured, channel, instance, "runtime"),
        force,
      },
      globals,
      out,
    );
  if (globals.json) {
    const outcome = loggedIn === undefined ? { needsLogin: false } : { loggedIn };
    out.json({ channel: runtimeName, ...outcome });
  } else if (loggedIn === undefined) {
    out.note(
      `${runtimeName} needs no login: nothing was done. It uses its settings when it starts`,
    );
    out.note(`See them with: service plugins info ${name}`);
  } else if (loggedIn) {
    out.note(`${runtimeName} is logged in`);
    if (!instance.enabled) noteNext(out, { name, instanceId }, "on");
  } else {
    out.note({ text: "error:", style: "red" }, ` ${runtimeName} is not logged in`);
    out.note(`  See what it needs with: service plugins info ${name}`);
  }
  return loggedIn === false ? EXIT.failed : EXIT.done;
}

/** How it is switched on, or started anew where its settings stayed as they were. */
function noteNext(
  out: Output,
  { name, instanceId }: { name: string; instanceId: string | undefined },
  next: "on" | "anew" | "nothing",
): void {
  const which = instanceId === undefined ? name : `${name} --instance ${instanceId}`;
  if (next === "on") {
    out.note(`It is off; switch it on with: service plugins enable ${which}`);
  } else if (next === "anew") {
    out.note(
      `Its settings stay as they were. To have it start anew: service plugins disable ${which}, ` +
        "then enable it again",
    );
  }
}
