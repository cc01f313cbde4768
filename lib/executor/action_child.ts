/**
 * What a child that runs actions is asked, and what it may answer. The authority asks it for one at a time, and
 * ends it after the first unless it is a turn's worker. Its own side is `serve_child.ts`.
 *
 * @module
 */

import type { Target } from "../contract/actions.ts";
import { flag, list, progressText, shape, text, variants } from "../rpc/checks.ts";
import { call, NO_ENDPOINT } from "../rpc/endpoint.ts";

/** What a child is to do. */
export interface ChildTask {
  tool: string;
  args: unknown;
  /** What the configuration says beside the arguments; it may hold a key, and stands in no record. */
  settings?: unknown;
  /**
   * As the authority resolved and decided it; the child checks that it still is that. None for a child
   * that works on nothing but the bytes that it is given.
   */
  target?: Target;
  /** Real path of the workspace. */
  workspace: string;
  /** Bytes of output that are kept. */
  maxOutputBytes: number;
}

/** What a child answers. What it throws instead is for the model. */
export type ChildResult =
  | { type: "result"; output: string }
  /** The fetch wants to go on elsewhere; the authority judges that anew. */
  | { type: "redirect"; url: string }
  /**
   * A page that was fetched: the authority has another child make a text of it, of its article alone where
   * one is wanted. `head` is what stands before it; an error page fails the call.
   */
  | {
    type: "page";
    head: string;
    html: string;
    url: string;
    wantsArticle: boolean;
    isError: boolean;
  }
  /** The bytes of a file, in base64. */
  | { type: "file"; data: string }
  /** Answer of the resolver child. */
  | { type: "addresses"; addresses: string[] };

/** Both ends. */
export const ACTION_CHILD = {
  authority: NO_ENDPOINT,
  child: {
    calls: {
      run: call<ChildTask, ChildResult, string>({
        result: variants<ChildResult>({
          result: shape({ output: text() }),
          redirect: shape({ url: text() }),
          page: shape({
            head: text(),
            html: text(),
            url: text(),
            wantsArticle: flag,
            isError: flag,
          }),
          file: shape({ data: text() }),
          addresses: shape({ addresses: list(text()) }),
        }),
        progress: progressText,
      }),
    },
    notices: {},
  },
};
