/**
 * What a web app begins with: where the WebSocket is, what it takes, and tokens for it.
 *
 * @module
 */

import { z } from "zod";
import type { Operate } from "../../operations/operations.ts";
import { upgradePath } from "../../base/upgrade_path.ts";
import type { WebsocketConfig } from "../../config/schema.ts";
import { MAX_TEXT_BYTES, MEDIA_LIMITS } from "../../contract/wire/envelopes.ts";
import type { Admission } from "./admission/admission.ts";
import {
  ISSUE_ERRORS,
  type IssueAccessDeps,
  requireIssueSecret,
  requireLocal,
} from "./admission/issue_access.ts";
import type { WebRoute } from "./web_route.ts";

/** Where it is. */
const BOOTSTRAP_PATH = "/webui/bootstrap";

/** What the route needs. */
export interface BootstrapDeps {
  config: WebsocketConfig;
  admission: Pick<Admission, "refuseSecret" | "proxiedCaller" | "socketTokens">;
  localUsers: IssueAccessDeps["localUsers"];
  operate: Operate;
  /** Name of the default model now. */
  model: () => string;
}

const bootstrapAnswer = z.object({
  token: z.string().optional().describe("Opens one WebSocket. Absent behind a trusted proxy."),
  api_token: z.string().optional().describe("For the routes of this port, until it expires."),
  expires_in: z.int().optional().describe("Seconds that both hold."),
  sign_out_path: z.string().optional().describe("The trusted proxy's, where it has one."),
  ws_path: z.string(),
  ws_url: z.string(),
  model_name: z.string(),
  limits: z.object({
    max_frame_bytes: z.int(),
    max_text_bytes: z.int(),
    attachments: z.object({
      max_count: z.int(),
      max_file_bytes: z.int(),
      max_total_bytes: z.int(),
    }),
  }),
});

/** The route. */
export function createBootstrapRoutes(deps: BootstrapDeps): WebRoute[] {
  const { config, admission, operate, model } = deps;

  function about(request: Request): Omit<z.infer<typeof bootstrapAnswer>, "token"> {
    return {
      ws_path: upgradePath(config.path),
      ws_url: wsUrl(request, config),
      model_name: model(),
      limits: {
        max_frame_bytes: config.maxMessageBytes,
        max_text_bytes: MAX_TEXT_BYTES,
        attachments: {
          max_count: MEDIA_LIMITS.maxCount,
          max_file_bytes: MEDIA_LIMITS.maxFileBytes,
          max_total_bytes: MEDIA_LIMITS.maxTotalBytes,
        },
      },
    };
  }

  return [{
    method: "GET",
    path: BOOTSTRAP_PATH,
    access: "public",
    summary: "Where the WebSocket is, and tokens for a local or secret-authenticated caller",
    docs: {
      answer: bootstrapAnswer,
      errors: ISSUE_ERRORS,
    },
    async handle({ request, arrival }) {
      const proxied = await admission.proxiedCaller(arrival);
      if (proxied !== undefined) {
        const { signOutPath } = proxied;
        return Response.json({
          ...about(request),
          ...signOutPath !== undefined && { sign_out_path: signOutPath },
        });
      }
      const { credential, isOpen } = requireIssueSecret(request, arrival, deps);
      if (isOpen) await requireLocal(request, arrival, deps);
      const { token: apiToken } = await operate(
        { op: "tokens.issue_api", scopes: ["operate"] },
        credential,
      );
      return Response.json({
        token: admission.socketTokens.issue(["operate"]),
        api_token: apiToken,
        expires_in: config.tokenTtlS,
        ...about(request),
      });
    },
  }];
}

/** `publicWsUrl`, else by the Host, which the guard has checked. */
function wsUrl(
  { headers }: Request,
  { publicWsUrl, sslCertfile, host, port, path }: WebsocketConfig,
): string {
  if (publicWsUrl !== "") return publicWsUrl;
  const at = headers.get("host")?.trim().toLowerCase() ??
    `${host.includes(":") ? `[${host}]` : host}:${port}`;
  return `${sslCertfile === "" ? "ws" : "wss"}://${at}${upgradePath(path)}`;
}
