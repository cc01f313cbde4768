/**
 * What every channel's check of its settings needs: findings, and which hosts are local.
 *
 * @module
 */

import { ServiceError } from "../../base/errors.ts";
import type { SetupFinding } from "../descriptor.ts";

/** Settings with it cannot be stored. */
export function error(field: string, message: string): SetupFinding {
  return { level: "error", field, message };
}

/** Settings with it can be stored. */
export function warning(field: string, message: string): SetupFinding {
  return { level: "warning", field, message };
}

/** Whether what is sent to a host stays on this machine, by its name or number alone. */
export function isLoopback(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "").toLowerCase();
  return /^(?:(?:.*\.)?localhost|127(?:\.\d+){3}|::1)$/.test(plain);
}

/**
 * Whether a host is this machine or in its network, which `channels.allowLocalServiceAccess` is about. By
 * its name or number alone: a sandboxed worker asks no name server.
 */
export function isLocalHost(host: string): boolean {
  const plain = host.replace(/^\[|\]$/g, "").toLowerCase();
  return /^(?:.*\.)?(?:localhost|local|internal)$/.test(plain) ||
    /^(?:0|10|127)\.|^192\.168\.|^169\.254\.|^172\.(?:1[6-9]|2\d|3[01])\./.test(plain) ||
    (plain.includes(":") && !/^[23]/.test(plain));
}

/** Throws `config_invalid` with the first error: a channel does not start with it. */
export function refuseErrors(findings: readonly SetupFinding[]): void {
  const wrong = findings.find(({ level }) => level === "error");
  if (wrong === undefined) return;
  throw new ServiceError("config_invalid", wrong.message, { param: wrong.field });
}
