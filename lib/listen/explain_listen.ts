/**
 * Why a listener could not be opened, in words that say what to do.
 *
 * @module
 */

import { ServiceError } from "../base/errors.ts";

/** What was tried. */
export interface ListenPlace {
  host: string;
  port: number;
  socketPath?: string;
  setting: string;
}

/** `host:port`, with brackets around IPv6. */
export function hostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The error for somebody who has to change the configuration: `config_invalid`. */
export function explainListen(error: unknown, place: ListenPlace): ServiceError {
  if (error instanceof ServiceError) return error;
  const { host, port, setting, socketPath } = place;
  const reason = error instanceof Error ? error.message : String(error);
  if (socketPath !== undefined) {
    return new ServiceError(
      "config_invalid",
      `Cannot listen on "${socketPath}": ${reason}; set ${setting}.socketPath to an absolute path ` +
        "of at most 100 bytes, in a folder that can be written",
      { param: `${setting}.socketPath` },
      { cause: error },
    );
  }
  const at = hostPort(host, port);
  const code = (error as { code?: string }).code;
  const name = error instanceof Error ? error.name : "";
  const details = { param: `${setting}.port` };
  if (name === "AddrInUse" || code === "EADDRINUSE") {
    return new ServiceError(
      "config_invalid",
      `Cannot listen on ${at}: the port is in use; stop the program that has it, or set ` +
        `${setting}.port to another number (0: any free one)`,
      details,
      { cause: error },
    );
  }
  if (name === "PermissionDenied" || name === "NotCapable" || code === "EACCES") {
    return new ServiceError(
      "config_invalid",
      `Cannot listen on ${at}: not permitted; ports below 1024 need special rights, so set ` +
        `${setting}.port to a higher number`,
      details,
      { cause: error },
    );
  }
  return new ServiceError(
    "config_invalid",
    `Cannot listen on ${at}: ${reason}; set ${setting}.host to an address of this machine`,
    { param: `${setting}.host` },
    { cause: error },
  );
}
