import type { SectionOf } from "../../lib/channel/base_channel.ts";
import type manifest from "./manifest.ts";

/** The section, as the manifest describes it. */
export type MatrixConfig = SectionOf<typeof manifest>;
