/**
 * What a web app begins with: where the WebSocket is, what it takes, and tokens for it.
 *
 * @module
 */

import { z } from "zod";
import type { Operate } from "../../operations/operations.ts";
import { upgradePath } from "../../base/upgrade_path.ts";
import type { WebsocketConfig } from "../../config/schema.ts";
import { type Scope, SCOPES } from "../../contract/credentials.ts";
import { chatOwner, sessionKeyOf } from "../../contract/chat_session.ts";
import { MAX_TEXT_BYTES, MEDIA_LIMITS } from "../../contract/wire/envelopes.ts";
import type { Admission } from "./admission/admission.ts";
import { exchangeToken } from "./admission/exchange_token.ts";
import {
  ISSUE_ERRORS,
  type IssueAccessDeps,
  requireIssueSecret,
  requireLocal,
} from "./admission/issue_access.ts";
import type { WebRoute } from "./web_route.ts";
import { wsUrl } from "./ws_url.ts";

/** Where it is. */
const BOOTSTRAP_PATH = "/webui/bootstrap";

/** Each of these lets a token open a WebSocket. */
const OPENS_SOCKET: readonly Scope[] = ["operate", "read", "chat"];

/** What the route needs. */
export interface BootstrapDeps {
  config: WebsocketConfig;
  admission: Pick<Admission, "refuseSecret" | "callerOf" | "socketTokens">;
  localUsers: IssueAccessDeps["localUsers"];
  operate: Operate;
  /** `gates.approvers`. */
  approvers: readonly string[];
  /** Name of the default model now. */
  model: () => string;
  /** Whether audios are transcribed. */
  transcribes: boolean;
  /** Milliseconds since 1970. */
  now: () => number;
}

/** What the app begins with. */
export const bootstrapAnswer = z.object({
  token: z.string().optional().describe("Opens one WebSocket. Absent behind a trusted proxy."),
  api_token: z.string().optional().describe("For the routes of this port, until it expires."),
  expires_in: z.int().optional().describe("Seconds that they hold."),
  scopes: z.array(z.enum(SCOPES)).optional()
    .describe("What the caller's tokens allow. Absent behind a trusted proxy, which is unscoped."),
  approvers: z.array(z.string()).optional().describe(
    "Only these may answer approvals, and the caller isn't one: gates.approvers. Else absent.",
  ),
  sign_out_path: z.string().optional().describe("The trusted proxy's, where it has one."),
  session_prefix: z.string().describe("Before a chat_id it is the key of the chat's session."),
  ws_path: z.string(),
  ws_url: z.string(),
  model_name: z.string(),
  transcribes: z.boolean().describe("Whether `transcribe_audio` is answered."),
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
  const { config, admission, operate, approvers, model, transcribes, now } = deps;

  function about(
    request: Request,
    workspaceKey?: string,
  ): Omit<z.infer<typeof bootstrapAnswer>, "token"> {
    return {
      session_prefix: sessionKeyOf({ chatId: "", owner: chatOwner(workspaceKey) }),
      ws_path: upgradePath(config.path),
      ws_url: wsUrl(request, config),
      model_name: model(),
      transcribes,
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
    summary:
      "Where the WebSocket is, what the caller may do, and tokens for a local browser or a secret",
    docs: {
      answer: bootstrapAnswer,
      errors: ISSUE_ERRORS,
    },
    async handle({ request, arrival }) {
      const caller = await admission.callerOf(request, arrival);
      if (caller !== undefined) {
        const { signOutPath, scopes, workspaceKey, credential } = caller;
        const mayNotAnswer = credential.kind === "identity" &&
          !approvers.includes(credential.actor);
        return Response.json({
          ...about(request, workspaceKey),
          ...mayNotAnswer && { approvers },
          ...signOutPath !== undefined && { sign_out_path: signOutPath },
          ...scopes !== undefined && { scopes },
          ...scopes?.some((scope) => OPENS_SOCKET.includes(scope)) &&
            exchangeToken(caller, scopes, { socketTokens: admission.socketTokens, now }),
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
        scopes: ["operate"],
        ...about(request),
      });
    },
  }];
}
