/** For channels, which see nothing of the agent. @module */

export { isBlank } from "../base/is_blank.ts";
