/**
 * What the keys of `channels.websocket.trustedProxyAuth` demand of each other. A block that would
 * believe too many, or says less than its writer thinks, refuses to load.
 *
 * @module
 */

import { assertionHeaderProblem } from "./assertion_header.ts";
import { isIdentity } from "./identity.ts";
import { parseJwksUrl } from "./jwks_address.ts";
import { coveredFamily, parsePeerNetwork, type PeerNetwork } from "./peer_network.ts";
import { signingKeyProblem } from "./signing_key.ts";
import { signOutPathProblem } from "./sign_out_path.ts";
import type { KeyPath } from "../base/key_path.ts";
import type { TrustedProxyConfig } from "../config/schema.ts";

/** What is wrong, or hardly meant, and where in the block. */
export interface TrustedProxyProblem {
  path: KeyPath;
  message: string;
}

type Tell = (path: KeyPath, message: string) => void;

/** Why a block refuses to load; empty for one that may be used. Holds no key. */
export function trustedProxyProblems(block: TrustedProxyConfig): TrustedProxyProblem[] {
  const problems: TrustedProxyProblem[] = [];
  const refuse: Tell = (path, message) => problems.push({ path, message });
  checkPeers(block, refuse);
  const header = assertionHeaderProblem(block.assertionHeader);
  if (header !== undefined) refuse(["assertionHeader"], `"${block.assertionHeader}" ${header}`);
  block.allowedIdentities.forEach((name, at) => {
    const isOne: boolean = isIdentity(name);
    if (!isOne) {
      refuse(
        ["allowedIdentities", at],
        `${JSON.stringify(name.slice(0, 60))} names nobody: expected 1 to 256 characters, ` +
          "without blanks at the ends and hidden ones",
      );
    }
  });
  const signOut = block.signOutPath === "" ? undefined : signOutPathProblem(block.signOutPath);
  if (signOut !== undefined) {
    refuse(["signOutPath"], `${JSON.stringify(block.signOutPath.slice(0, 60))} ${signOut}`);
  }
  if (block.assertionFormat === "jwt") checkJwt(block, refuse);
  else if (Object.keys(block.requiredClaims).length > 0) {
    refuse(["requiredClaims"], "cannot be checked with assertionFormat plain, which has no claims");
  }
  return problems;
}

/** What works, but is hardly meant. */
export function trustedProxyWarnings(block: TrustedProxyConfig): TrustedProxyProblem[] {
  const warnings: TrustedProxyProblem[] = [];
  const warn: Tell = (path, message) => warnings.push({ path, message });
  if (block.assertionFormat === "plain") {
    warn(
      ["assertionFormat"],
      "plain believes an unsigned header: whoever can connect from trustedPeerCidrs can be anybody",
    );
    const { issuer, audience, jwksUrl, jwks } = block;
    for (const [key, value] of Object.entries({ issuer, audience, jwksUrl, jwks })) {
      if (value !== "" && value !== null) {
        warn([key], "is not looked at with assertionFormat plain");
      }
    }
  } else if (block.allowAnyVerifiedIdentity && namesSomebody(block)) {
    warn(
      ["allowAnyVerifiedIdentity"],
      "changes nothing beside allowedIdentities or requiredClaims, which still have to be met",
    );
  }
  return warnings;
}

function checkPeers({ trustedPeerCidrs }: TrustedProxyConfig, refuse: Tell): void {
  const networks: PeerNetwork[] = [];
  trustedPeerCidrs.forEach((text, at) => {
    const network = parsePeerNetwork(text);
    if ("problem" in network) {
      refuse(["trustedPeerCidrs", at], `${JSON.stringify(text.slice(0, 60))} ${network.problem}`);
    } else networks.push(network);
  });
  const whole = coveredFamily(networks);
  if (whole !== undefined) {
    const all = whole === "ipv4" ? "IPv4" : "IPv6";
    refuse(["trustedPeerCidrs"], `holds every address of ${all}, so it would trust everybody`);
  }
}

function checkJwt(block: TrustedProxyConfig, refuse: Tell): void {
  const { issuer, audience, jwksUrl, jwks } = block;
  const named = namesSomebody(block) || block.allowAnyVerifiedIdentity;
  const nothing = issuer === "" && audience === "" && jwksUrl === "" && jwks === null && !named;
  if (nothing) {
    refuse(
      ["assertionFormat"],
      "jwt, the default, needs the keys named below; a block of an earlier version, with " +
        "trustedPeerCidrs and assertionHeader alone, keeps its meaning with assertionFormat plain",
    );
  }
  if (issuer === "") refuse(["issuer"], "is missing; tokens have to be of one issuer (iss)");
  if (audience === "") refuse(["audience"], "is missing; tokens have to be for one audience (aud)");
  if (jwksUrl === "" && jwks === null) {
    refuse(["jwksUrl"], "neither jwksUrl nor jwks is set; expected exactly one of them");
  } else if (jwksUrl !== "" && jwks !== null) {
    refuse(["jwksUrl"], "both jwksUrl and jwks are set; expected exactly one of them");
  }
  if (jwksUrl !== "") {
    const url = parseJwksUrl(jwksUrl);
    if ("problem" in url) refuse(["jwksUrl"], url.problem);
  }
  if (jwks !== null) checkKeys(jwks, refuse);
  if (!named) {
    refuse(
      ["allowedIdentities"],
      "nobody is named: set allowedIdentities or requiredClaims, or allowAnyVerifiedIdentity to true",
    );
  }
}

function checkKeys(jwks: Record<string, unknown>, refuse: Tell): void {
  const { keys } = jwks;
  if (!Array.isArray(keys) || keys.length === 0) {
    refuse(["jwks"], 'is no set of keys, such as {"keys": [{"kty": "OKP", …}]}');
    return;
  }
  const kids = new Set<unknown>();
  keys.forEach((key, at) => {
    const problem = signingKeyProblem(key);
    if (problem !== undefined) return refuse(["jwks", "keys", at], problem);
    if (kids.has(key.kid)) refuse(["jwks", "keys", at], "has the kid of a key before it");
    kids.add(key.kid);
  });
}

function namesSomebody({ allowedIdentities, requiredClaims }: TrustedProxyConfig): boolean {
  return allowedIdentities.length > 0 || Object.keys(requiredClaims).length > 0;
}
