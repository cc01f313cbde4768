/**
 * From verified claims to who somebody is.
 *
 * @module
 */

import { canonicalJson } from "../base/canonical_json.ts";
import { sha256Hex } from "../base/sha256.ts";
import type { TrustedProxyConfig } from "../config/schema.ts";

/** Somebody whom the proxy vouches for. Unscoped: the proxy is the authority. */
export interface ProxyIdentity {
  /** `webui:<claim value>`, as `gates.approvers` has it. */
  actor: string;
  /** The claim's value, or the header's in the format plain. */
  identity: string;
  /**
   * Under which this person's storage is filed, 64 hex digits; undefined: the default workspace. The
   * same for the same issuer, claim and value, whichever key signed.
   */
  workspaceKey?: string;
  /** The proxy's route to sign out, on this origin. */
  signOutPath?: string;
}

/** Somebody, or why nobody. The reason holds nothing of the assertion. */
export type Admission = { identity: ProxyIdentity } | { reason: string };

/** Claims that were verified, or none of the format plain. */
export type Claims = Readonly<Record<string, unknown>>;

type Config = Pick<
  TrustedProxyConfig,
  | "issuer"
  | "identityClaim"
  | "allowedIdentities"
  | "workspaceKeyClaim"
  | "signOutPath"
  | "requiredClaims"
>;

const MAX_VALUE_CHARS = 256;

/**
 * Whether a text can name a person: 1 to 256 characters, no blank at its ends, nothing hidden in it, so
 * that what an operator reads is what was compared.
 */
export function isIdentity(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= MAX_VALUE_CHARS &&
    value === value.trim() &&
    !/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/u.test(value);
}

/** Who the claims of a verified token admit. */
export function admitClaims(claims: Claims, config: Config): Admission {
  const identity = own(claims, config.identityClaim);
  if (identity === undefined) return { reason: "the assertion lacks the claim of identityClaim" };
  if (!isIdentity(identity)) return { reason: "the claim of identityClaim is no name of a person" };
  for (const [name, wanted] of Object.entries(config.requiredClaims)) {
    const value = own(claims, name);
    if (value === undefined || canonicalJson(value) !== canonicalJson(wanted)) {
      return { reason: "a claim is not what requiredClaims says" };
    }
  }
  const workspace = own(claims, config.workspaceKeyClaim);
  if (workspace === undefined) return admit(identity, config);
  // Shared storage is for who has no such claim, not for whoever has a strange one.
  if (typeof workspace !== "string" || workspace === "" || workspace.length > MAX_VALUE_CHARS) {
    return { reason: "the claim of workspaceKeyClaim is no text of 1 to 256 characters" };
  }
  return admit(identity, config, workspaceKey(config, workspace));
}

/** Who the text of a header admits, in the format plain. */
export function admitPlain(value: string, config: Config): Admission {
  // Bytes of a header beyond ASCII mean a different text to each program on the way.
  if (!isIdentity(value) || !/^[\x20-\x7e]+$/.test(value)) {
    return { reason: "the assertion is no name of a person in printable ASCII" };
  }
  return admit(value, config);
}

function admit(identity: string, config: Config, workspaceKey?: string): Admission {
  const { allowedIdentities, signOutPath } = config;
  if (allowedIdentities.length > 0 && !allowedIdentities.includes(identity)) {
    return { reason: "the person is not among allowedIdentities" };
  }
  return {
    identity: {
      actor: `webui:${identity}`,
      identity,
      ...workspaceKey !== undefined && { workspaceKey },
      ...signOutPath !== "" && { signOutPath },
    },
  };
}

/** A hash, so that no value can name a path or the key of somebody else's. */
function workspaceKey({ issuer, workspaceKeyClaim }: Config, value: string): string {
  return sha256Hex(JSON.stringify([issuer, workspaceKeyClaim, value]));
}

function own(claims: Claims, name: string): unknown {
  return Object.hasOwn(claims, name) ? claims[name] : undefined;
}
