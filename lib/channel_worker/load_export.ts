/**
 * Loads what a manifest names, and makes sure that it is that, so that a package that is wrong is told
 * what to change.
 *
 * @module
 */

import type { BaseChannel, PackageConfig } from "../channel/base_channel.ts";
import type { ChannelHost } from "../channel/channel_host.ts";
import type { Connector, SetupValidator } from "../channel/descriptor.ts";
import type { FeatureMetadata } from "../channel/base_channel.ts";
import type { WorkerBoot } from "./protocol.ts";

/** A class of a runtime. */
export interface RuntimeClass {
  new (config: PackageConfig, host: ChannelHost): BaseChannel;
  readonly name: string;
  defaultConfig(): Record<string, unknown>;
  refreshFeatureMetadata(
    config: Record<string, unknown>,
    instanceId?: string,
  ): Promise<FeatureMetadata | undefined>;
}

/** What was loaded. */
export type LoadedExport =
  | { kind: "runtime"; Runtime: RuntimeClass }
  | { kind: "validator"; validate: SetupValidator }
  | { kind: "connector"; connector: Connector };

/** What `BaseChannel` gives to its classes. */
const INHERITED = [
  "handleMessage",
  "isAllowed",
  "login",
  "sendReasoning",
  "sendReasoningDelta",
  "sendReasoningEnd",
] as const;

/** Of the prototype; fields of an instance are looked at when there is one. */
const REQUIRED = ["start", "stop", "send"] as const;

/**
 * Loads the export of a worker. `load` imports a module, `words` says what an error is. Rejects with an
 * error that says what to change.
 */
export async function loadExport(
  { module, exportName, kind }: Pick<WorkerBoot, "module" | "exportName" | "kind">,
  { load, words }: {
    load: (module: string) => Promise<unknown>;
    words: (error: unknown) => string;
  },
): Promise<LoadedExport> {
  const file = fileOf(module);
  const loaded = await load(module).catch((error) => {
    throw new Error(`Cannot load ${file}: ${words(error)}`, { cause: error });
  }) as Record<string, unknown>;
  if (!Object.hasOwn(loaded, exportName)) {
    const names = Object.keys(loaded).slice(0, 10).join(", ") || "nothing";
    throw new Error(
      `Cannot use ${file}: the manifest names its export ${exportName}, and it exports ${names}`,
    );
  }
  const exported = loaded[exportName];
  const wrong = (expected: string) =>
    new Error(`Cannot use ${file}: its export ${exportName} is ${expected}`);
  switch (kind) {
    case "runtime": {
      const problem = runtimeProblem(exported, exportName);
      if (problem !== undefined) throw wrong(problem);
      return { kind, Runtime: exported as RuntimeClass };
    }
    case "validator":
      if (typeof exported !== "function") throw wrong("no function (values, context)");
      return { kind, validate: exported as SetupValidator };
    case "connector":
      if (typeof (exported as Partial<Connector> | null | undefined)?.handle !== "function") {
        throw wrong("no object with a method handle(action, query)");
      }
      return { kind, connector: exported as Connector };
  }
}

/** Why a made channel cannot be used: members that are fields of the instance are there by now. */
export function channelProblem(channel: BaseChannel): string | undefined {
  const missing = REQUIRED.find((name) => typeof channel[name] !== "function");
  if (missing !== undefined) return `has no method ${missing}()`;
  if (typeof channel.isRunning !== "boolean") return "has no isRunning that is true or false";
  return undefined;
}

/** By what it does and not by `instanceof`: a package may have its own copy of the contract. */
function runtimeProblem(exported: unknown, exportName: string): string | undefined {
  if (typeof exported !== "function" || !/^class\b/.test(String(exported))) return "no class";
  if (exported.name !== exportName) {
    return `a class of another name, ${exported.name}: expected class ${exportName}`;
  }
  const prototype = exported.prototype as Record<string, unknown>;
  // Not looked up: a getter of the prototype would run without an instance.
  if (INHERITED.some((name) => !(name in prototype))) {
    return "a class that does not extend BaseChannel";
  }
  return undefined;
}

/** As people know it: the folder of the channel and the file. */
function fileOf(module: string): string {
  return decodeURIComponent(new URL(module).pathname).split("/").slice(-3).join("/");
}
