/**
 * GET /openapi.json of the API.
 *
 * @module
 */

import { createServedDocument } from "../../served_document.ts";

/** The route's handler; the document is loaded when it is first asked for. */
export function createOpenApi(
  { version }: { version: string },
): (request: Request) => Promise<Response> {
  return createServedDocument(async () => {
    const { openApiDocument } = await import("./document.ts");
    return openApiDocument({ version });
  });
}
