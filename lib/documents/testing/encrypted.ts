/**
 * Encrypted documents for tests.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { CFB } from "xlsx";

/** ISO 32000-1, 7.6.3.3: fills a password up to 32 bytes. */
const PADDING = Uint8Array.from(
  "28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A".match(/../g)!,
  (hex) => parseInt(hex, 16),
);
const PERMISSIONS = -4;
const FILE_ID = new Uint8Array(16).fill(7);

/** A PDF with one page, encrypted by the standard handler, revision 2 (ISO 32000-1, 7.6.3). */
export function makeEncryptedPdf(text: string, userPassword: string): Uint8Array {
  const user = pad(userPassword);
  const owner = rc4(md5(pad("the owner's")).subarray(0, 5), user);
  const permissions = new Uint8Array(new Int32Array([PERMISSIONS]).buffer);
  const key = md5(user, owner, permissions, FILE_ID).subarray(0, 5);
  const check = rc4(key, PADDING);
  const content = `BT /F1 12 Tf 20 100 Td (${text}) Tj ET`;
  const contentKey = md5(key, Uint8Array.of(4, 0, 0, 0, 0)).subarray(0, 10);
  const objects = [
    "<</Type/Catalog/Pages 2 0 R>>",
    "<</Type/Pages/Kids[3 0 R]/Count 1>>",
    "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R" +
    "/Resources<</Font<</F1 5 0 R>>>>>>",
    `<</Length ${content.length}>>stream\n${
      latin1(rc4(contentKey, new TextEncoder().encode(content)))
    }\nendstream`,
    "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    `<</Filter/Standard/V 1/R 2/O<${hex(owner)}>/U<${hex(check)}>/P ${PERMISSIONS}>>`,
  ];
  let pdf = "%PDF-1.4\n";
  const offsets = objects.map((object, n) => {
    const offset = pdf.length;
    pdf += `${n + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`);
  const id = `<${hex(FILE_ID)}>`;
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join("")}`;
  const trailer = `trailer\n<</Size ${
    objects.length + 1
  }/Root 1 0 R/Encrypt 6 0 R/ID[${id}${id}]>>`;
  return bytesOf(`${pdf}${table}${trailer}\nstartxref\n${pdf.length}\n%%EOF\n`);
}

/** A container as office programs write it around a document with a password (MS-OFFCRYPTO 2.3.4). */
export function makeEncryptedOffice(): Uint8Array {
  return makeOle(["EncryptionInfo", "EncryptedPackage"]);
}

/** An OLE container with streams of these names, as old office programs wrote. */
export function makeOle(streams: readonly string[]): Uint8Array {
  const container = CFB.utils.cfb_new();
  for (const name of streams) {
    CFB.utils.cfb_add(container, `/${name}`, crypto.getRandomValues(new Uint8Array(8_000)));
  }
  return new Uint8Array(CFB.write(container, { type: "array" }) as ArrayLike<number>);
}

function pad(password: string): Uint8Array {
  const bytes = new Uint8Array(32);
  bytes.set(PADDING.subarray(0, 32 - password.length), password.length);
  bytes.set(bytesOf(password));
  return bytes;
}

function md5(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash("md5");
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

function rc4(key: Uint8Array, data: Uint8Array): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_, n) => n);
  const swap = (a: number, b: number) => [state[a], state[b]] = [state[b]!, state[a]!];
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 255;
    swap(i, j);
  }
  let i = 0;
  let j = 0;
  return data.map((byte) => {
    i = (i + 1) & 255;
    j = (j + state[i]!) & 255;
    swap(i, j);
    return byte ^ state[(state[i]! + state[j]!) & 255]!;
  });
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function latin1(bytes: Uint8Array): string {
  return [...bytes].map((byte) => String.fromCharCode(byte)).join("");
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
