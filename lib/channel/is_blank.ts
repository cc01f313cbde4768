/** For channels, which see nothing of the agent. @module */

export { isBlank } from "../agent/is_blank.ts";
