/**
 * Whether a service runs in this home, and is well.
 *
 * @module
 */

import { visibleLine } from "../../lib/base/visible_text.ts";
import type { LocalClient } from "../../lib/local/client.ts";
import type { OperationResult } from "../../lib/operations/operations.ts";
import type { ServiceStatus as OwnStatus } from "../../lib/operations/service_status.ts";
import { operateWith } from "../operator/operate_with.ts";
import type { Finding } from "./check.ts";
import { plural } from "../plural.ts";

/** What a running service says of itself, and of its channels where it has any. */
export interface ServiceStatus extends OwnStatus {
  channels?: OperationResult<"channels.status">["channels"];
}

/** Longest problem of a channel that is shown, characters. */
const MAX_PROBLEM_CHARS = 500;

/** Its status; undefined when none runs in this home. Closes the connection. */
export async function readStatus(
  connect: () => Promise<LocalClient | undefined>,
): Promise<ServiceStatus | undefined> {
  const client = await connect();
  if (client === undefined) return undefined;
  try {
    const ask = operateWith(client);
    const status = await ask({ op: "service.status" });
    // One that was started without a gateway has none.
    return { ...status, ...await ask({ op: "channels.status" }).catch(() => undefined) };
  } finally {
    client.close();
  }
}

/** What the running service says, each of its checks that is not well included. */
export function checkService(status: ServiceStatus | undefined, version: string): Finding[] {
  if (status === undefined) return [{ status: "ok", detail: "not running" }];
  const { pid, api_url, model_name, turns: { running, queued }, guests } = status;
  const facts = [
    `process ${pid}`,
    api_url ?? "no API",
    model_name,
    `${plural(running, "turn")} running, ${queued} waiting, ${plural(guests, "client")}`,
  ];
  const findings: Finding[] = Object.entries(status.checks).filter(([, { ok }]) => !ok).map((
    [name, { detail }],
  ) => ({
    status: "fail",
    detail: `the running service reports a problem with ${name}: ${detail}`,
    fix: "See the log of the service",
  }));
  findings.push(...channelFindings(status));
  findings.unshift(
    status.version === version ? { status: "ok", detail: facts.join(", ") } : {
      status: "warn",
      detail: `${facts.join(", ")}; it runs version ${status.version}, this is ${version}`,
      fix: "Restart it",
    },
  );
  return findings;
}

/** Channels that do not run as they should; what is wrong with a section is told of by its own check. */
function channelFindings({ channels = [] }: ServiceStatus): Finding[] {
  return channels.flatMap(({ runtime_name, state, problem }): Finding[] => {
    if (problem === undefined || problem.startsWith("Cannot use channels.")) return [];
    return [{
      status: state === "failed" ? "fail" : "warn",
      detail: `the channel ${runtime_name} is ${state}: ${
        visibleLine(problem.slice(0, MAX_PROBLEM_CHARS))
      }`,
      fix: "See its state with: service channels status",
    }];
  });
}
