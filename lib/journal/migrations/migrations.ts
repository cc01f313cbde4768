import type { Migration } from "../../base/migrate.ts";
import { initial } from "./0001_initial.ts";
import { requestsAndFiles } from "./0002_requests_and_files.ts";
import { sessionChanges } from "./0003_session_changes.ts";
import { chats } from "./0004_chats.ts";
import { automations } from "./0005_automations.ts";
import { deliveries } from "./0006_deliveries.ts";
import { missedMessages } from "./0007_missed_messages.ts";
import { crashes } from "./0008_crashes.ts";
import { folders } from "./0009_folders.ts";
import { retention } from "./0010_retention.ts";
import { fewerPages } from "./0011_fewer_pages.ts";
import { search } from "./0012_search.ts";
import { usage } from "./0013_usage.ts";
import { turnModels } from "./0014_turn_models.ts";
import { intake } from "./0015_intake.ts";

/**
 * Every step from an empty file to the current shape, in order. One that was released is never
 * edited: a change is a new file, its line here, and a fixture of its version in `fixtures.ts`.
 */
export const MIGRATIONS: readonly Migration[] = [
  initial,
  requestsAndFiles,
  sessionChanges,
  chats,
  automations,
  deliveries,
  missedMessages,
  crashes,
  folders,
  retention,
  fewerPages,
  search,
  usage,
  turnModels,
  intake,
];
