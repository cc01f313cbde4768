/**
 * What a program needs to talk to a running service on the same machine: a connection to its home,
 * the events that a turn says, and the errors. Over the network, any OpenAI client does.
 *
 * ```ts ignore
 * import { connectLocal, endpointAt } from "@service/service";
 *
 * const client = await connectLocal(endpointAt(`${Deno.env.get("HOME")}/.service/run/service.sock`));
 * if (client === undefined) throw new Error("No service runs there");
 * const input = [{ type: "text" as const, text: "hi" }];
 * for await (const { event } of client.stream("turn", { sessionKey: "cli:default", input })) {
 *   if (event.type === "text_delta") console.log(event.text);
 * }
 * client.close();
 * ```
 *
 * @module
 */

export type {
  AgentEvent,
  FinishReason,
  StoredEvent,
  TurnStatus,
  Usage,
} from "./lib/contract/events.ts";
export type { UserPart } from "./lib/contract/messages.ts";
export {
  type ErrorCode,
  type ErrorData,
  type ErrorDetails,
  ServiceError,
} from "./lib/base/errors.ts";
export type { LocalClient } from "./lib/local/client.ts";
export { connectLocal, type Endpoint, endpointAt } from "./lib/local/endpoint.ts";
export type { Item, Operation, Params, Result } from "./lib/local/protocol.ts";
