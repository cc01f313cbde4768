/** What a server of the test keeps: people, channels, posts and files, in the shapes of the API. */

/** As the API shows one. */
export interface FakePost {
  id: string;
  create_at: number;
  update_at: number;
  edit_at: number;
  delete_at: number;
  user_id: string;
  channel_id: string;
  root_id: string;
  original_id: string;
  message: string;
  type: string;
  props: Record<string, unknown>;
  file_ids: string[];
  pending_post_id: string;
  metadata: Record<string, unknown>;
}

export interface FakeChannel {
  id: string;
  name: string;
  display_name: string;
  type: "O" | "P" | "D" | "G";
  team_id: string;
  delete_at: number;
  last_post_at: number;
}

export interface FakeUser {
  id: string;
  username: string;
  is_bot: boolean;
}

export interface FakeFile {
  id: string;
  name: string;
  size: number;
  mime_type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** 26 small letters and digits. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(26));
  return [...bytes].map((byte) => "abcdefghijkmnopqrstuwxyz13456789"[byte % 32]).join("");
}

/** The same on every server. */
function fixedId(name: string): string {
  return name.padEnd(26, "x");
}

export class FakeStore {
  readonly bot: FakeUser = { id: fixedId("helper"), username: "helper", is_bot: true };
  readonly alice: FakeUser = { id: fixedId("alice"), username: "alice", is_bot: false };
  readonly bob: FakeUser = { id: fixedId("bob"), username: "bob", is_bot: false };
  readonly robot: FakeUser = { id: fixedId("robot"), username: "robot", is_bot: true };
  readonly team = { id: newId(), name: "my-team", display_name: "My team" };
  readonly users = [this.bot, this.alice, this.bob, this.robot];
  readonly channels = new Map<string, FakeChannel>();
  readonly posts = new Map<string, FakePost>();
  readonly files = new Map<string, FakeFile>();
  readonly reactions: { user_id: string; post_id: string; emoji_name: string }[] = [];
  #lastMs = Date.now();

  /** Milliseconds; each is later than the one before. */
  now(): number {
    return this.#lastMs = Math.max(Date.now(), this.#lastMs + 1);
  }

  channel(name: string, type: FakeChannel["type"], teamId = this.team.id): FakeChannel {
    const channel: FakeChannel = {
      id: newId(),
      name,
      display_name: name,
      type,
      team_id: type === "D" || type === "G" ? "" : teamId,
      delete_at: 0,
      last_post_at: 0,
    };
    this.channels.set(channel.id, channel);
    return channel;
  }

  post(user: string, channelId: string, message: string, more: Partial<FakePost> = {}): FakePost {
    const at = this.now();
    const fileIds = more.file_ids ?? [];
    const infos = fileIds.flatMap((id) => {
      const file = this.files.get(id);
      if (file === undefined) return [];
      const { bytes: _, ...info } = file;
      return [info];
    });
    const post: FakePost = {
      id: newId(),
      create_at: at,
      update_at: at,
      edit_at: 0,
      delete_at: 0,
      user_id: user,
      channel_id: channelId,
      root_id: "",
      original_id: "",
      message,
      type: "",
      props: {},
      file_ids: fileIds,
      pending_post_id: "",
      metadata: infos.length === 0 ? {} : { files: infos },
      ...more,
    };
    this.posts.set(post.id, post);
    this.channels.get(channelId)!.last_post_at = post.create_at;
    return post;
  }

  file(name: string, bytes: Uint8Array<ArrayBuffer>, mimeType: string): FakeFile {
    const file = { id: newId(), name, size: bytes.length, mime_type: mimeType, bytes };
    this.files.set(file.id, file);
    return file;
  }

  /** Those of a channel that are there, the newest first. */
  page(channelId: string, page: number, perPage: number): FakePost[] {
    return [...this.posts.values()]
      .filter(({ channel_id, delete_at }) => channel_id === channelId && delete_at === 0)
      .sort((one, other) => other.create_at - one.create_at)
      .slice(page * perPage, (page + 1) * perPage);
  }
}
