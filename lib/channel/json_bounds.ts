/** For channels, which see nothing of HTTP. @module */

export { requireJsonBounds } from "../base/json_bounds.ts";
