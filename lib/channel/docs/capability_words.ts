/**
 * What channels can do, in words: for the docs, and for whoever asks about one at the command line.
 *
 * @module
 */

import type { ChannelCapability, ChannelDescriptor } from "../descriptor.ts";

/** Something that a channel can do or cannot. */
export interface Ability {
  /** In a few words, such as `Streams`. */
  title: string;
  /** What that means, as a sentence. */
  words: string;
  isOf(descriptor: ChannelDescriptor): boolean;
}

const can = (capability: ChannelCapability) => ({ capabilities }: ChannelDescriptor) =>
  capabilities.includes(capability);

/** In the order in which they are shown. Where a channel runs is none: that is no matter of its chats. */
export const ABILITIES: readonly Ability[] = [
  {
    title: "Streams",
    words: "answers arrive piece by piece, with `streaming` on.",
    isOf: can("streaming"),
  },
  {
    title: "Typing",
    words: "shows that an answer is being made.",
    isOf: can("typing"),
  },
  {
    title: "Progress",
    words: "shows what the agent does meanwhile, in the platform's quiet form.",
    isOf: can("progress"),
  },
  {
    title: "Reasoning",
    words: "shows what the model thinks.",
    isOf: can("reasoning"),
  },
  {
    title: "Reactions",
    words: "acknowledges a message by a reaction.",
    isOf: can("reactions"),
  },
  {
    title: "Files",
    words: "come in and go out.",
    isOf: can("media"),
  },
  {
    title: "Voice",
    words: "what is said in a voice message is heard, with `transcription` on.",
    isOf: can("voice"),
  },
  {
    title: "Groups",
    words: "hears there, where it is addressed.",
    isOf: can("groups"),
  },
  {
    title: "Threads, replies",
    words: "an answer stands where its question does.",
    isOf: can("replies"),
  },
  {
    title: "Approves",
    words: "its sender ids are vouched for, so that a listed sender may approve actions there.",
    isOf: ({ senderVerified }) => senderVerified,
  },
  {
    title: "Buttons",
    words: "an approval is answered by one; elsewhere by typing what the message says.",
    isOf: can("buttons"),
  },
  {
    title: "Catches up",
    words: "what was written while the service was down is heard after the start.",
    isOf: can("catch_up"),
  },
  {
    title: "Verified",
    words: "its session in encrypted chats can be verified by emoji.",
    isOf: can("verification"),
  },
  {
    title: "Safe to repeat",
    words:
      "a message of which nobody knows whether it arrived is sent again by itself: the platform " +
      "knows it by its id.",
    isOf: can("idempotent_send"),
  },
  {
    title: "Several accounts",
    words: "more than one at once.",
    isOf: ({ management }) => management?.multiInstance === true,
  },
  {
    title: "Connects",
    words: "by a code or a link that is shown.",
    isOf: ({ connector }) => connector !== undefined,
  },
];
