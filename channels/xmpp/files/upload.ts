/**
 * Puts files where the server keeps them (XEP-0363).
 *
 * @module
 */

import { basename } from "@std/path";
import { PermanentDeliveryError } from "../../../lib/channel/delivery_error.ts";
import { mediaTypeOf } from "../../../lib/channel/platform/mod.ts";
import { type Abilities, discover } from "../client/discover.ts";
import { NS } from "../client/namespaces.ts";
import { StanzaError } from "../client/stanza_error.ts";
import { xml, type XmlElement } from "../client/xmpp_library.ts";
import type { XmppSession } from "../client/xmpp_session.ts";
import { type FileHost, isAtHost, requestFile } from "./http_client.ts";

/** What takes files on a server. */
export interface UploadService {
  jid: string;
  /** Infinity where it does not say. */
  maxBytes: number;
}

/** A file cannot be sent, and why. */
export class UploadError extends PermanentDeliveryError {}

/** Services that are asked what they are. */
const MAX_SERVICES = 30;

/** The ones of a server that a place for files may want to have (XEP-0363, 5). */
const HEADERS: readonly string[] = ["authorization", "cookie", "expires"];

/** Looks for it among the services of a domain; undefined where there is none. */
export async function findUpload(
  session: Pick<XmppSession, "request">,
  domain: string,
): Promise<UploadService | undefined> {
  const answer = await session.request("get", domain, xml("query", { xmlns: NS.discoItems }));
  const items = answer.getChild("query", NS.discoItems)?.getChildren("item") ?? [];
  const jids = items.flatMap(({ attrs }) => attrs.jid ?? []).slice(0, MAX_SERVICES);
  const found = await Promise.all([domain, ...jids].map(async (jid) => {
    try {
      return readService(jid, await discover(session, jid));
    } catch {
      return undefined;
    }
  }));
  return found.find((service) => service !== undefined);
}

function readService(jid: string, { features, query }: Abilities): UploadService | undefined {
  if (!features.has(NS.upload)) return undefined;
  const size = query.getChildren("x", NS.form)
    .flatMap((form) => form.getChildren("field"))
    .find(({ attrs }) => attrs.var === "max-file-size")?.getChildText("value");
  const maxBytes = Number(size ?? NaN);
  return { jid, maxBytes: maxBytes > 0 ? maxBytes : Infinity };
}

/** Puts a file there. Resolves with the address that others get it at. Rejects with an UploadError. */
export async function uploadFile(
  path: string,
  { session, service, host, signal }: {
    session: Pick<XmppSession, "request">;
    service: UploadService;
    host: FileHost;
    signal: AbortSignal;
  },
): Promise<string> {
  const filename = basename(path);
  const { size } = await Deno.stat(path);
  const type = mediaTypeOf(filename);
  const slot = await askSlot(session, service.jid, { filename, size, type });
  const put = URL.parse(slot.getChild("put")?.attrs.url ?? "");
  const get = slot.getChild("get")?.attrs.url ?? "";
  if (!isAtHost(host, put) || URL.parse(get) === null) {
    throw new UploadError(
      `The server wants its files at ${
        put?.origin ?? "no address"
      }, and uploadUrl is ${host.url.origin}`,
    );
  }
  const file = await Deno.readFile(path);
  const { status } = await requestFile(host, put, {
    method: "PUT",
    headers: { "content-type": type, ...headersOf(slot) },
    body: file,
    signal,
  });
  if (status !== 201 && status !== 200) throw new UploadError(`The server answered ${status}`);
  return get;
}

async function askSlot(
  session: Pick<XmppSession, "request">,
  jid: string,
  { filename, size, type }: { filename: string; size: number; type: string },
): Promise<XmlElement> {
  const request = xml("request", {
    xmlns: NS.upload,
    filename,
    size: String(size),
    "content-type": type,
  });
  try {
    const answer = await session.request("get", jid, request);
    const slot = answer.getChild("slot", NS.upload);
    if (slot !== undefined) return slot;
  } catch (error) {
    if (!(error instanceof StanzaError) || error.kind === "wait") throw error;
    throw new UploadError(error.message);
  }
  throw new UploadError("The server gives no place for it");
}

function headersOf(slot: XmlElement): Record<string, string> {
  const headers = slot.getChild("put")?.getChildren("header") ?? [];
  return Object.fromEntries(headers.flatMap((header) => {
    const name = header.attrs.name?.toLowerCase() ?? "";
    const value = header.text().replace(/[\r\n]/g, "");
    return HEADERS.includes(name) ? [[name, value] as const] : [];
  }));
}
