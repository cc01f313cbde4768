/**
 * What a channel's package extends: a channel that hears of messages and hands them to the service.
 *
 * @module
 */

import { Channel, type ChannelConfig } from "./channel.ts";
import type { ChannelDescriptor } from "./descriptor.ts";
import type { ChannelHost } from "./channel_host.ts";
import type { HandledMessage, Published } from "../contract/inbound_message.ts";
import type { Verification, VerifyAction } from "./verification.ts";
import type { OutboundMessage, ReasoningDelta, StreamDelta } from "../contract/outbound_message.ts";

/** What the base looks at in the section of a package. */
export interface PackageConfig extends ChannelConfig {
  /** Answers piece by piece, where the runtime has `sendDelta`. */
  streaming?: boolean;
  /** Of what the channel itself says, where it says something. */
  language?: string;
}

/** The section that a runtime is given, by its manifest, which is `as const`. */
export type SectionOf<Manifest extends Pick<ChannelDescriptor, "setup">> =
  & PackageConfig
  & {
    readonly [Name in keyof Manifest["setup"]["fields"]]: ValueOf<
      Manifest["setup"]["fields"][Name]
    >;
  };

type ValueOf<Field> = Field extends { kind: "int" } ? number
  : Field extends { kind: "bool" } ? boolean
  : Field extends { kind: "list" } ? readonly string[]
  : Field extends { kind: "enum"; choices: readonly (infer Choice)[] } ? Choice
  : string;

export abstract class BaseChannel<Config extends PackageConfig = PackageConfig>
  extends Channel<Config> {
  protected readonly host: ChannelHost;

  constructor(config: Config, host: ChannelHost) {
    super(config);
    this.host = host;
  }

  override get name(): string {
    return this.host.name;
  }

  /**
   * Delivers a piece of a stream. A runtime that has it is given answers this way while its `streaming`
   * is on, and then never by `send` again. What rejects is given once more, with what came since.
   */
  sendDelta?(piece: StreamDelta): Promise<void>;

  /**
   * Verifies its session of an encrypted platform with whoever asks it to meanwhile. Rejects where there is
   * nothing to verify.
   */
  verify?(action: VerifyAction): Promise<Verification>;

  /** Shows a piece of what the model thinks; the answer never comes this way. */
  sendReasoningDelta(_piece: ReasoningDelta): Promise<void> {
    return Promise.resolve();
  }

  /** The thinking has ended. */
  sendReasoningEnd(_end: Omit<ReasoningDelta, "delta">): Promise<void> {
    return Promise.resolve();
  }

  /** Shows a whole thought: one piece and its end. */
  async sendReasoning({ chatId, content, metadata, id }: OutboundMessage): Promise<void> {
    await this.sendReasoningDelta({ chatId, delta: content, metadata, streamId: id });
    await this.sendReasoningEnd({ chatId, metadata, streamId: id });
  }

  /** Whether answers go out piece by piece. */
  get supportsStreaming(): boolean {
    return this.config.streaming === true && this.sendDelta !== undefined;
  }

  /**
   * To be called for each message that comes in, and awaited before the platform is told that it came:
   * resolves when the message is on the disk, or its sender is not allowed.
   */
  protected async handleMessage(message: HandledMessage): Promise<Published> {
    if (!this.isAllowed(message.senderId)) return { kind: "denied" };
    return await this.host.publish({ ...message, streaming: this.supportsStreaming });
  }

  /** What is said in an audio file of the channel's folder, by the service's transcription. */
  protected transcribeAudio(path: string): Promise<string> {
    return this.host.transcribe(path);
  }

  /**
   * Asks the platform for names and pictures of an instance, after somebody changed its settings and
   * never because somebody looks; what it gives is kept beside the settings.
   */
  static refreshFeatureMetadata(
    _config: Record<string, unknown>,
    _instanceId?: string,
  ): Promise<FeatureMetadata | undefined> {
    return Promise.resolve(undefined);
  }
}

/** How an instance is shown. */
export interface FeatureMetadata {
  name?: string;
  displayName?: string;
  avatarUrl?: string;
}
