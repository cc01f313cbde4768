/**
 * Where audio is sent to. The authority computes the service's permissions with it, so nothing here may
 * open a connection.
 *
 * @module
 */

import type { TranscriptionConfig } from "../config/schema.ts";

export interface TranscriptionEndpoint {
  /** Of the whole request. */
  url: string;
  /** Name or address, lower case, an IPv6 address without brackets. */
  host: string;
  port: number;
}

/** The endpoint of a configuration. */
export function transcriptionEndpoint(
  { baseUrl }: Pick<TranscriptionConfig, "baseUrl">,
): TranscriptionEndpoint {
  const url = new URL(baseUrl);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/audio/transcriptions`;
  url.hash = "";
  return {
    url: url.href,
    host: url.hostname.replace(/^\[|\]$/g, "").toLowerCase(),
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
  };
}

/** Why a section cannot be used; undefined for one that can. Holds no secret. */
export function transcriptionProblem(
  { baseUrl, apiKey }: Pick<TranscriptionConfig, "baseUrl" | "apiKey">,
): { key: "baseUrl" | "apiKey"; message: string } | undefined {
  const { username, password } = new URL(baseUrl);
  if (username !== "" || password !== "") {
    return {
      key: "baseUrl",
      message: "it holds a user name or a password; the key stands in transcription.apiKey",
    };
  }
  if (!/^[\x21-\x7e]*$/.test(apiKey)) {
    return {
      key: "apiKey",
      message: "the key holds blanks or letters beyond ASCII, which no header can hold",
    };
  }
  return undefined;
}
