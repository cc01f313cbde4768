/**
 * Several bots in one section.
 *
 * @module
 */

import { accountsAdapter } from "../../lib/channel/management/accounts_adapter.ts";
import type { ManagementAdapter } from "../../lib/channel/management.ts";
import manifest from "./manifest.ts";

/** The adapter. */
export const instances: ManagementAdapter = accountsAdapter(manifest);
