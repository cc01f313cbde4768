/**
 * The classes of `@mattermost/client`, a CommonJS package whose names the loader does not find in it.
 *
 * @module
 */

import type * as types from "@mattermost/client";
import * as loaded from "@mattermost/client";

const { default: exported } = loaded as unknown as { default: typeof types };

/** The client of the API. */
export const Client4: typeof types.Client4 = exported.Client4;
export type Client4 = types.Client4;

/** The client of the events. */
export const WebSocketClient: typeof types.WebSocketClient = exported.WebSocketClient;
export type WebSocketClient = types.WebSocketClient;
