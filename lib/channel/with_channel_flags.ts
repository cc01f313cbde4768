/**
 * What a channel shows beside answers: each flag by itself, the channel's own over the one for all
 * channels.
 *
 * @module
 */

/** The flags. */
export interface ChannelFlags {
  sendProgress: boolean;
  sendToolHints: boolean;
  showReasoning: boolean;
}

/** The section with every flag set. */
export function withChannelFlags<Section extends Partial<ChannelFlags>>(
  section: Section,
  all: ChannelFlags,
): Section & ChannelFlags {
  return {
    ...section,
    sendProgress: section.sendProgress ?? all.sendProgress,
    sendToolHints: section.sendToolHints ?? all.sendToolHints,
    showReasoning: section.showReasoning ?? all.showReasoning,
  };
}
