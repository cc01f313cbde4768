/**
 * Files of the media folder for whoever holds a signed link. Only images are shown; anything else is
 * something to save, and never a page of this origin.
 *
 * @module
 */

import { imageType } from "../../documents/image_type.ts";
import { ServiceError } from "../../base/errors.ts";
import type { Journal } from "../../contract/journal.ts";
import type { MediaStore } from "../../media/types.ts";
import type { SignedMediaLinks } from "./media_links.ts";
import type { PublicCall, WebRoute } from "./web_route.ts";

/** What the route works with. */
export interface MediaRoutesDeps {
  links: Pick<SignedMediaLinks, "verify">;
  media: Pick<MediaStore, "read">;
  journal: Pick<Journal, "hasFile">;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** The one route. The link is all that it asks for. */
export function createMediaRoutes({ links, media, journal, now }: MediaRoutesDeps): WebRoute[] {
  async function handle({ params, query }: PublicCall): Promise<Response> {
    const sha256 = params.sha256 ?? "";
    const link = links.verify(sha256, query);
    // A file that no session refers to any more is as good as gone.
    const bytes = link !== undefined && journal.hasFile(sha256)
      ? await media.read(sha256)
      : undefined;
    if (link === undefined || bytes === undefined) {
      // One answer for all: whether there is such a file is nothing to be learnt without a link.
      throw new ServiceError("not_found", "This link has expired, or there is no such file");
    }
    const image = imageType(bytes);
    const maxAgeS = Math.max(0, Math.floor((link.expiresAtMs - now()) / 1_000));
    return new Response(bytes as Uint8Array<ArrayBuffer>, {
      headers: {
        "content-type": image ?? "application/octet-stream",
        "content-length": String(bytes.length),
        "content-disposition": disposition(
          image === undefined ? "attachment" : "inline",
          link.name,
        ),
        "content-security-policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": `private, max-age=${maxAgeS}, immutable`,
      },
    });
  }

  return [{
    method: "GET",
    path: "/media/:sha256",
    access: "public",
    summary: "A file that came or went with a message, by a signed link that holds for an hour",
    docs: { mediaType: "application/octet-stream", errors: ["not_found"] },
    handle,
  }];
}

/** As RFC 6266 has it: a plain name for old clients, and the exact one. */
function disposition(kind: "inline" | "attachment", name: string | undefined): string {
  if (name === undefined) return kind;
  const plain = name.replace(/[^\x20-\x7e]|["\\%/]/g, "_");
  // encodeURIComponent leaves some characters that RFC 8187 does not allow.
  const exact = encodeURIComponent(name).replace(
    /['()*!]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `${kind}; filename="${plain}"; filename*=UTF-8''${exact}`;
}
