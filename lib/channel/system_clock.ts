/**
 * The clock of this machine, for what runs without a host, such as a validator.
 *
 * @module
 */

export { type Clock, systemClock } from "../base/clock.ts";
