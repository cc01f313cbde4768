/** For channels, which see nothing of HTTP. @module */

export { requireJsonBounds } from "../http/json_bounds.ts";
