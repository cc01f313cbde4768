/**
 * A body of `multipart/form-data`, as the Bot API's server reads it: names of files may stand without
 * quotes.
 *
 * @module
 */

/** A file of a body. */
export interface UploadedFile {
  name: string;
  bytes: number;
}

/** Fields as text, and files by the names of their parts. */
export interface Multipart {
  fields: Record<string, string>;
  files: Record<string, UploadedFile>;
}

const latin1 = new TextDecoder("latin1");
const utf8 = new TextDecoder();

/** Throws for a body that does not end as it says. */
export function parseMultipart(body: Uint8Array, contentType: string): Multipart {
  const boundary = /boundary=("?)([^";]+)\1/.exec(contentType)?.[2];
  if (boundary === undefined) throw new Error("no boundary");
  // A byte a character, so that positions are those of the body.
  const text = latin1.decode(body);
  if (!text.trimEnd().endsWith(`--${boundary}--`)) throw new Error("the body was cut off");
  const result: Multipart = { fields: {}, files: {} };
  const mark = `--${boundary}`;
  for (let at = text.indexOf(mark); at >= 0;) {
    const start = at + mark.length + 2;
    const end = text.indexOf(`\r\n${mark}`, start);
    if (end < 0) break;
    const head = text.indexOf("\r\n\r\n", start);
    const header = utf8.decode(body.subarray(start, head));
    const content = body.subarray(head + 4, end);
    const name = /[; ]name="([^"]*)"/.exec(header)![1]!;
    const file = /filename=(?:"([^"]*)"|([^\r\n;]*))/.exec(header);
    if (file === null) result.fields[name] = utf8.decode(content);
    else result.files[name] = { name: file[1] ?? file[2]!, bytes: content.length };
    at = end + 2;
  }
  return result;
}
