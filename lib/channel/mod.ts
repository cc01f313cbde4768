/**
 * What a channel's package is made with: the types of its manifest, the base of its runtime, and the
 * errors of its deliveries (docs/channels.md).
 *
 * ```ts ignore
 * import { BaseChannel, type OutboundMessage } from "@service/service/channel";
 *
 * export class PagerChannel extends BaseChannel {
 *   #end = Promise.withResolvers<void>();
 *   #isRunning = false;
 *   override get isRunning(): boolean {
 *     return this.#isRunning;
 *   }
 *   override async start(): Promise<void> {
 *     this.#isRunning = true;
 *     await this.#end.promise;
 *   }
 *   override stop(): Promise<void> {
 *     this.#isRunning = false;
 *     this.#end.resolve();
 *     return Promise.resolve();
 *   }
 *   override async send({ chatId, content }: OutboundMessage): Promise<void> {
 *     if (!this.#isRunning) throw new NotConnectedError("the pager is away");
 *     if (content !== "") await page(chatId, content);
 *   }
 * }
 * ```
 *
 * A manifest, and an adapter of instances, import nothing of here but types.
 *
 * @module
 */

export type { Clock } from "../base/clock.ts";
export type { Log, LogFields } from "../base/log.ts";
export { type Provenance, PROVENANCES, type TextPart } from "../contract/text_part.ts";
export { BaseChannel, type FeatureMetadata, type PackageConfig } from "./base_channel.ts";
export { Channel, type ChannelConfig } from "./channel.ts";
export type { ChannelHost, ChannelListener } from "./channel_host.ts";
export {
  LoginRefusedError,
  NotConnectedError,
  PermanentDeliveryError,
  RetryLaterError,
  UncertainDeliveryError,
} from "./delivery_error.ts";
export {
  CHANNEL_CAPABILITIES,
  type ChannelCapability,
  type ChannelDescriptor,
  type ChannelPermissions,
  type ConnectAnswer,
  type Connector,
  type ManagementSpec,
  type SetupContext,
  type SetupContract,
  type SetupField,
  type SetupFinding,
  type SetupRequirement,
  type SetupValidator,
} from "./descriptor.ts";
export {
  type HandledMessage,
  type InboundMessage,
  MAX_INBOUND_CHARS,
  MAX_INBOUND_PARTS,
  MAX_METADATA_CHARS,
  type Published,
} from "../contract/inbound_message.ts";
export type {
  ChannelInstanceSpec,
  FeatureInstance,
  ManagementAdapter,
  Section,
} from "./management.ts";
export type {
  OutboundEvent,
  OutboundMessage,
  ReasoningDelta,
  StreamDelta,
} from "../contract/outbound_message.ts";
export * from "./markdown/mod.ts";
export * from "./platform/mod.ts";
