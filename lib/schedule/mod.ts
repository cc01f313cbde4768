/**
 * When something is due: the shape of an automation, its checks, and its slots.
 *
 * Stands alone: arithmetic of time zones and cron without clock, journal or agent.
 *
 * Invariants:
 * - Pure: the same schedule and the same instant give the same slots.
 * - `check_automation.ts` is the one check, for tool, route and command alike.
 *
 * Runs in: gateway, launcher, one-shot commands.
 *
 * Entries:
 * - `automation_record.ts`: an automation as it is stored
 * - `automation_schema.ts`: how an automation is written
 * - `check_automation.ts`: every check of an automation
 * - `due_slots.ts`: what runs now, and what was missed
 *
 * @module
 */
