/**
 * What channels of chat platforms share, so that each of them is about its platform alone.
 *
 * @module
 */

export { abortable } from "../../base/abortable.ts";
export { askPlatform } from "./ask_platform.ts";
export { backoffMs, type BackoffOptions } from "./backoff.ts";
export {
  boundedFetch,
  bytesOf,
  type FetchBounds,
  ifTooLarge,
  NOT_PERMITTED,
  TOO_LARGE,
} from "./bounded_fetch.ts";
export { CatchUp, type ChatPage, type HistoryPage, readHistory } from "./catch_up.ts";
export {
  callError,
  type CallFacts,
  FailedCall,
  failedCall,
  type FailureKind,
  type FailureTable,
  noAnswer,
  ofRepeatable,
  pauseOf,
  reasonOf,
} from "./failed_call.ts";
export { MAX_INBOUND_FILE_BYTES } from "./inbound_files.ts";
export { Intake, type IntakeDeps, type IntakeEntry, type IntakeLimits } from "./intake.ts";
export { mediaTypeOf } from "./media_type_of.ts";
export { Memory } from "./memory.ts";
export { messageCatalog, type Messages } from "./message_catalog.ts";
export { neverSent } from "./never_sent.ts";
export { type ConnectionOptions, openConnection } from "./open_connection.ts";
export { inTransaction, openStateDatabase } from "./open_state_database.ts";
export { Pauses } from "./pauses.ts";
export { type PictureSize, pictureSize } from "./picture_size.ts";
export { readBounded, type WithBody } from "./read_bounded.ts";
export { silentLogger } from "./silent_logger.ts";
export { readCaCerts } from "./read_ca_certs.ts";
export { sleep } from "./sleep.ts";
export {
  inPieces,
  isQuoteLine,
  mentionOf,
  others,
  piecesOf,
  type QuoteMarks,
  type Said,
  splitQuotes,
} from "./text_pieces.ts";
export { Tries } from "./tries.ts";
export { type DeadlineOptions, withDeadline } from "./with_deadline.ts";
export type {
  ApprovalButton,
  ClickOutcome,
  Edit,
  FileRules,
  OutgoingFile,
  PlatformClick,
  PlatformDriver,
  PlatformFile,
  PlatformMessage,
  PlatformReaction,
  PlatformSession,
  Posting,
} from "./driver.ts";
export { UnreadableFileError } from "./driver.ts";
export { PlatformChannel } from "./platform_channel.ts";
export type { PlatformWords } from "./platform_words.ts";
