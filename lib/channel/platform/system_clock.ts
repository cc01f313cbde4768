/**
 * The clock of this machine, for what a channel does without a host: a check of its settings.
 *
 * @module
 */

export { systemClock } from "../../agent/clock.ts";
