/**
 * The conformance kit of channel packages: tests that every channel passes, and what a test of one's own
 * is made with (docs/channels.md).
 *
 * ```ts ignore
 * import { testChannel } from "@service/service/channel/testing";
 * import { openPlatform } from "./my_platform.ts";
 *
 * testChannel({ folder: new URL("./", import.meta.url), openPlatform });
 * ```
 *
 * @module
 */

export type { Clock } from "../../base/clock.ts";
export { type FakeClock, fakeClock } from "../../agent/testing/fake_clock.ts";
export type { InstanceExamples } from "./channel_subject.ts";
export type { ChannelFinding } from "./channel_check.ts";
export type {
  ChannelPlatform,
  PlatformHook,
  PlatformMessage,
  PlatformSent,
} from "./channel_platform.ts";
export { type ChannelTestOptions, checkChannel } from "./check_channel.ts";
export { FakeHost, type FakeHostOptions, type LoggedLine } from "./fake_host.ts";
export { testChannel } from "./test_channel.ts";
