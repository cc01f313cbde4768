/**
 * What a channel package is written with, what several packages share, and the conformance kit.
 *
 * Stands alone: packages of others import it (`@service/service/channel`), so it knows nothing of
 * the service that runs a channel.
 *
 * Invariants:
 * - A manifest and a management adapter import types only: listing a channel loads no runtime.
 * - `platform/intake.ts` has a message and its cursor stored in one transaction of the journal before the
 *   platform is acknowledged. So an acknowledgement waits for no model, and a killed process loses nothing.
 * - `platform/` doesn't send a part of a message again once the platform took it (`send_steps.ts`).
 * - Every package passes the checks of `testing/checks`; docs/channels.md is generated from them.
 *
 * Runs in: channel process; the gateway for the WebSocket port; launcher and one-shot commands for
 * manifests and settings.
 *
 * Entries:
 * - `base_channel.ts`: what a runtime extends
 * - `channel.ts`: what every runtime is to its host
 * - `channel_host.ts`: what a runtime is given
 * - `channel_link.ts`: a running channel as the gateway sees it, wherever it runs
 * - `channel_package.ts`: a package in the static map of channels
 * - `channel_spec.ts`: an instance without its secrets, for the gateway
 * - `channel_status.ts`: how a channel is doing, for people and programs
 * - `check_descriptor.ts`: checks a manifest
 * - `check_inbound.ts`: checks an inbound message, at both ends
 * - `deliveries.ts`: the port of deliveries
 * - `delivery_error.ts`: how a delivery fails
 * - `descriptor.ts`: the types of a manifest
 * - `dispatch_outbound.ts`: picks the runtime's method for an outbound message
 * - `docs/capability_words.ts`: what channels can do, in words
 * - `docs/channel_tables.ts`: the tables of docs/channels.md
 * - `management.ts`: several instances in one section, the types
 * - `management/`: reads, shows and changes instances
 * - `markdown/mod.ts`: Markdown in what a platform takes, and split
 * - `markdown/to_html.ts`: Markdown as HTML that is safe in a mail
 * - `markdown/to_plain_text.ts`: Markdown as plain text
 * - `mod.ts`: all of it, for packages of others
 * - `outbound_event.ts`: what kind of message goes out
 * - `permission_fields.ts`: values of settings in a manifest's permissions
 * - `plain_json.ts`: a bounded copy of data from another process
 * - `platform/`: the framework of chat platforms, its contract of a driver, and helpers for wires
 * - `read_own_file.ts`: opens a file of a channel's own folder, and no other
 * - `setup/`: holds a section against its contract
 * - `socket_channel.ts`: a channel that serves connections in the gateway
 * - `socket_host.ts`: what such a channel is given
 * - `testing/mod.ts`: the conformance kit, for packages of others
 * - `verification.ts`: how far the session of an encrypted platform is verified
 * - `with_channel_flags.ts`: which flags of an instance win
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
 * @module
 */

export type { Clock } from "../base/clock.ts";
export type { Log, LogFields } from "../base/log.ts";
export { type Provenance, PROVENANCES, type TextPart } from "../contract/text_part.ts";
export {
  BaseChannel,
  type FeatureMetadata,
  type PackageConfig,
  type SectionOf,
} from "./base_channel.ts";
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
  type ConnectContext,
  type Connector,
  type ManagementSpec,
  type SetupContext,
  type SetupContract,
  type SetupField,
  type SetupFinding,
  type SetupRequirement,
  type SetupValidator,
  type TextForm,
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
export type { Verification, VerifyAction } from "./verification.ts";
export type {
  OutboundEvent,
  OutboundMessage,
  ReasoningDelta,
  StreamDelta,
} from "../contract/outbound_message.ts";
export * from "./markdown/mod.ts";
export * from "./platform/mod.ts";
