/**
 * Loads the IMAP client where nothing but two hosts may be reached.
 *
 * @module
 */

import os from "node:os";

/** The package. Loaded when it is needed: a manifest and settings never need it. */
export async function loadImapFlow(): Promise<typeof import("imapflow")> {
  // What it writes logs with wants the machine's name as it is loaded, and a worker may not know it.
  const { hostname } = os;
  os.hostname = () => "localhost";
  try {
    return await import("imapflow");
  } finally {
    os.hostname = hostname;
  }
}
