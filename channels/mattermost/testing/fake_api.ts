/** `/api/v4` of a server of the test: the routes that a bot uses, with the errors of the documentation. */

import { type FakePost, type FakeStore, newId } from "./fake_store.ts";

export interface FakeApiOptions {
  store: FakeStore;
  isToken: (token: string) => boolean;
  publish: (event: string, data: Record<string, unknown>, channelId?: string) => void;
  maxPostSize: number;
  maxFileSize: number;
}

/** A refusal of the server. */
export interface FakeRefusal {
  status: number;
  id: string;
  message: string;
}

/** How long a post that is not sent twice is known by its id, milliseconds. */
const PENDING_MS = 30_000;

export class FakeApi {
  readonly #options: FakeApiOptions;
  readonly #pending = new Map<string, { postId: string; untilMs: number }>();
  /** Attachments with buttons, as posts had them when they were made. */
  readonly buttons = new Map<string, unknown>();
  /** Every request, `GET /channels/…`, without `/api/v4`. */
  readonly requests: string[] = [];
  /** For the next requests that change something, one each. */
  readonly refusals: (FakeRefusal | undefined)[] = [];
  /** Requests that are answered with 429, and seconds until the next is not. */
  limited: { count: number; retryAfterS: number; header: "Retry-After" | "X-Ratelimit-Reset" } = {
    count: 0,
    retryAfterS: 0,
    header: "Retry-After",
  };
  /** The next post is taken, and the connection cut before that is said. */
  losesAnswer = false;
  /** The next post is taken, and what comes behind it in the server fails. */
  stumbles = false;
  /** Answers instead of the server where it gives something. */
  instead: (method: string, path: string) => Response | undefined = () => undefined;
  /** Answers the next request that changes something, which does nothing. */
  nonsense: string | undefined;
  /** So many files cannot be had for now. */
  failFiles = 0;
  /** Whether `silent` is known. */
  knowsSilent = true;

  constructor(options: FakeApiOptions) {
    this.#options = options;
  }

  /** Lets so many requests that change something through, and refuses the next. */
  refuseAfter(count: number, refusal: FakeRefusal): void {
    this.refusals.push(...Array.from({ length: count }, () => undefined), refusal);
  }

  async answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname.replace(/^.*?\/api\/v4/, "");
    this.requests.push(`${request.method} ${path}${url.search}`);
    if (this.limited.count > 0) {
      this.limited.count -= 1;
      const { retryAfterS, header } = this.limited;
      return new Response("limit exceeded\n", {
        status: 429,
        headers: {
          "X-Ratelimit-Limit": "100",
          "X-Ratelimit-Remaining": "0",
          [header]: String(retryAfterS),
        },
      });
    }
    if (path === "/config/client") {
      const { maxPostSize, maxFileSize } = this.#options;
      return this.#json({ MaxPostSize: String(maxPostSize), MaxFileSize: String(maxFileSize) });
    }
    const [, token = ""] = /^bearer (.*)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    if (!this.#options.isToken(token)) {
      return this.#fail(401, "api.context.session_expired.app_error", "Invalid or expired session");
    }
    const other = this.instead(request.method, path);
    if (other !== undefined) {
      await request.body?.cancel();
      return other;
    }
    if (request.method !== "GET") {
      if (this.nonsense !== undefined) {
        const { nonsense } = this;
        this.nonsense = undefined;
        return new Response(nonsense, { headers: { "content-type": "application/json" } });
      }
      const refusal = this.refusals.shift();
      if (refusal !== undefined) {
        await request.body?.cancel();
        return this.#fail(refusal.status, refusal.id, refusal.message);
      }
    }
    return await this.#route(request, path, url.searchParams);
  }

  async #route(request: Request, path: string, query: URLSearchParams): Promise<Response> {
    const { store } = this.#options;
    const { method } = request;
    const parts = path.split("/").slice(1);
    const at = `${method} /${parts[0]}`;
    if (method === "GET" && path === "/users/me") return this.#json(store.bot);
    if (method === "GET" && path === "/users/me/teams") return this.#json([store.team]);
    if (method === "GET" && path === "/users/me/channels") {
      return this.#json([...store.channels.values()]);
    }
    if (at === "DELETE /users" && parts[4] === "reactions") return this.#json({ status: "OK" });
    if (at === "GET /users") {
      const user = store.users.find(({ id }) => id === parts[1]);
      return user === undefined
        ? this.#fail(404, "app.user.missing_account.const", "Unable to find the user.")
        : this.#json(user);
    }
    if (at === "GET /teams") {
      return parts[2] === store.team.name
        ? this.#json(store.team)
        : this.#fail(404, "app.team.get_by_name.missing.app_error", "Unable to find the team.");
    }
    if (at === "GET /channels" && parts[2] === "posts") return this.#list(parts[1]!, query);
    if (at === "POST /posts") return await this.#create(await request.json(), query);
    if (at === "PUT /posts") return this.#patch(parts[1]!, await request.json());
    if (at === "DELETE /posts") return this.#delete(parts[1]!);
    if (at === "POST /reactions") {
      const reaction = await request.json();
      store.reactions.push(reaction);
      return this.#json(reaction);
    }
    if (at === "POST /files") return await this.#upload(request);
    if (at === "GET /files") {
      if (this.failFiles-- > 0) return this.#fail(503, "api.file.busy", "Busy.");
      const file = store.files.get(parts[1]!);
      return file === undefined
        ? this.#fail(404, "app.file_info.get.app_error", "Unable to get the file info.")
        : new Response(file.bytes, { headers: { "content-type": file.mime_type } });
    }
    return this.#fail(404, "api.context.404.app_error", "Sorry, we could not find the page.");
  }

  #list(channelId: string, query: URLSearchParams): Response {
    const { store } = this.#options;
    if (!store.channels.has(channelId)) return this.#forbidden();
    const page = Number(query.get("page") ?? 0);
    const posts = store.page(channelId, page, Math.min(200, Number(query.get("per_page") ?? 60)));
    return this.#json({
      order: posts.map(({ id }) => id),
      posts: Object.fromEntries(posts.map((post) => [post.id, { ...post, pending_post_id: "" }])),
      next_post_id: "",
      prev_post_id: "",
    });
  }

  #create(body: Partial<FakePost>, query: URLSearchParams): Response {
    const { store, publish, maxPostSize } = this.#options;
    const channel = store.channels.get(body.channel_id ?? "");
    if (channel === undefined) {
      return this.#fail(400, "api.context.invalid_param.app_error", "Invalid post.channel_id");
    }
    if (channel.delete_at > 0) {
      const id = "api.post.create_post.can_not_post_to_deleted.error";
      return this.#fail(400, id, "Can not post to deleted channel.");
    }
    const root = body.root_id ? store.posts.get(body.root_id) : undefined;
    if (body.root_id && (root === undefined || root.delete_at > 0)) {
      return this.#fail(400, "api.post.create_post.root_id.app_error", "Invalid RootId.");
    }
    const { message = "", pending_post_id: pending = "" } = body;
    if ([...message].length > maxPostSize) {
      return this.#fail(400, "model.post.is_valid.message_length.app_error", "Invalid message.");
    }
    const known = this.#pending.get(pending);
    if (pending !== "" && known !== undefined && known.untilMs > Date.now()) {
      return this.#json({ ...store.posts.get(known.postId), pending_post_id: "" }, 201);
    }
    const silent = this.knowsSilent && query.get("silent") === "true";
    const post = store.post(store.bot.id, channel.id, message, {
      root_id: body.root_id ?? "",
      file_ids: body.file_ids ?? [],
      pending_post_id: pending,
      props: {
        ...body.props,
        from_bot: "true",
        ...silent && { silent_notification: true },
      },
    });
    if (post.props.attachments !== undefined) {
      this.buttons.set(post.id, structuredClone(post.props.attachments));
    }
    if (pending !== "") {
      this.#pending.set(pending, { postId: post.id, untilMs: Date.now() + PENDING_MS });
    }
    publish("posted", this.#event(post), channel.id);
    if (this.stumbles) {
      this.stumbles = false;
      // Of such a one it does not remember the pending id either.
      this.#pending.delete(pending);
      return this.#fail(500, "app.post.save.app_error", "Unable to save the post.");
    }
    if (!this.losesAnswer) return this.#json(post, 201);
    this.losesAnswer = false;
    const broken = new ReadableStream({ pull: (stream) => stream.error(new Error("cut")) });
    return new Response(broken, { status: 201, headers: { "content-type": "application/json" } });
  }

  /** The data of an event about a post. */
  event(post: FakePost): Record<string, unknown> {
    return this.#event(post);
  }

  #event(post: FakePost): Record<string, unknown> {
    const { store } = this.#options;
    const channel = store.channels.get(post.channel_id)!;
    const user = store.users.find(({ id }) => id === post.user_id);
    return {
      channel_type: channel.type,
      channel_display_name: channel.display_name,
      channel_name: channel.name,
      sender_name: `@${user?.username ?? "nobody"}`,
      team_id: channel.team_id,
      set_online: true,
      post: JSON.stringify(post),
    };
  }

  #patch(postId: string, patch: Partial<FakePost>): Response {
    const { store, publish, maxPostSize } = this.#options;
    const post = store.posts.get(postId);
    if (post === undefined || post.delete_at > 0 || post.user_id !== store.bot.id) {
      return this.#forbidden();
    }
    if ([...patch.message ?? ""].length > maxPostSize) {
      return this.#fail(400, "model.post.is_valid.message_length.app_error", "Invalid message.");
    }
    post.edit_at = post.update_at = store.now();
    if (patch.message !== undefined) post.message = patch.message;
    if (patch.props !== undefined) post.props = { ...patch.props, from_bot: "true" };
    publish("post_edited", { post: JSON.stringify(post) }, post.channel_id);
    return this.#json(post);
  }

  #delete(postId: string): Response {
    const { store, publish } = this.#options;
    const post = store.posts.get(postId);
    if (post === undefined || post.delete_at > 0) {
      return this.#fail(404, "app.post.get.app_error", "Unable to get the post.");
    }
    publish("post_deleted", { post: JSON.stringify(post) }, post.channel_id);
    post.delete_at = post.update_at = store.now();
    return this.#json({ status: "OK" });
  }

  async #upload(request: Request): Promise<Response> {
    const { store, maxFileSize } = this.#options;
    const form = await request.formData();
    const file = form.get("files");
    if (!(file instanceof File) || !store.channels.has(String(form.get("channel_id")))) {
      return this.#forbidden();
    }
    if (file.size > maxFileSize) {
      const id = "api.file.upload_file.too_large_detailed.app_error";
      return this.#fail(413, id, "Unable to upload file. File is too large.");
    }
    const bytes = new Uint8Array(await file.arrayBuffer());
    const { bytes: _, ...info } = store.file(file.name, bytes, file.type || "text/plain");
    return this.#json({ file_infos: [info], client_ids: [] }, 201);
  }

  #json(body: unknown, status = 200): Response {
    return Response.json(body, {
      status,
      headers: { "X-Request-Id": newId(), "X-Version-Id": "11.9.0.1.0.true" },
    });
  }

  #forbidden(): Response {
    const message = "You do not have the appropriate permissions.";
    return this.#fail(403, "api.context.permissions.app_error", message);
  }

  #fail(status: number, id: string, message: string): Response {
    const error = { id, message, detailed_error: "", request_id: newId(), status_code: status };
    return this.#json(error, status);
  }
}
