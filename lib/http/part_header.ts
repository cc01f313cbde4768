/**
 * The header section of a form's part: which field it is, and whether it is a file (RFC 7578, 4.2).
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** What a part says of itself. */
export interface PartHeader {
  name: string;
  /** A file's name; undefined for a field of text. */
  fileName?: string;
}

/** Characters of a field's name. */
const MAX_NAME_CHARS = 200;

/**
 * Reads the lines of a section. Throws `invalid_request` for one without a name, or whose content is
 * encoded, which RFC 7578 (4.7) has done away with.
 */
export function readPartHeader(section: Uint8Array): PartHeader {
  const headers = new Map<string, string>();
  // A line that begins with white space goes on with the one before.
  for (const line of new TextDecoder().decode(section).replace(/\r\n[ \t]+/g, " ").split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1));
  }
  const parameters = readParameters(headers.get("content-disposition") ?? "");
  const name = parameters.get("name");
  if (name === undefined || name === "") throw wrong("a part must have a name");
  if (name.length > MAX_NAME_CHARS) {
    throw wrong(`the name of a part is over the limit of ${MAX_NAME_CHARS} characters`);
  }
  const encoding = headers.get("content-transfer-encoding")?.trim().toLowerCase();
  if (encoding !== undefined && !["7bit", "8bit", "binary"].includes(encoding)) {
    throw wrong(`the part "${name}" must be sent as it is, not in a Content-Transfer-Encoding`);
  }
  const fileName = parameters.get("filename") ?? extended(parameters.get("filename*"));
  return fileName === undefined ? { name } : { name, fileName };
}

/** The parameters of a Content-Disposition `form-data`; none for another. */
function readParameters(disposition: string): Map<string, string> {
  const parameters = new Map<string, string>();
  if (!/^\s*form-data\s*(;|$)/i.test(disposition)) return parameters;
  for (
    const match of disposition.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;]*))/g)
  ) {
    const [, key, quoted, plain] = match;
    parameters.set(key!.toLowerCase(), quoted === undefined ? plain!.trim() : unquote(quoted));
  }
  return parameters;
}

/**
 * curl puts a backslash before quotes and backslashes, browsers encode quotes and line breaks with
 * percent signs and leave backslashes as they are (WHATWG HTML, multipart/form-data).
 */
function unquote(text: string): string {
  return text.replace(/\\(["\\])/g, "$1").replace(
    /%(22|0d|0a)/gi,
    (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** `UTF-8''na%C3%AFve.txt` (RFC 8187), which some clients send though they should not. */
function extended(value: string | undefined): string | undefined {
  const encoded = value && /^utf-8'[^']*'(.*)$/i.exec(value)?.[1];
  if (encoded === undefined) return undefined;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}

function wrong(reason: string): ServiceError {
  return new ServiceError("invalid_request", `The body must be multipart/form-data: ${reason}`);
}
