/**
 * What channels of chat platforms share, so that each of them is about its platform alone.
 *
 * @module
 */

export { EditedStreams, type EditedStreamsDeps, type StreamPlace } from "./edited_streams.ts";
export { Intake, type IntakeDeps, type IntakeEntry, type IntakeLimits } from "./intake.ts";
export { Memory } from "./memory.ts";
export { neverSent } from "./never_sent.ts";
export { Typing, type TypingDeps } from "./typing.ts";
