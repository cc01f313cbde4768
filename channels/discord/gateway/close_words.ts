/**
 * What Discord's codes mean that a connection is not to be made again after (developer documentation,
 * "Gateway Close Event Codes").
 *
 * @module
 */

const WORDS: Readonly<Record<number, string>> = {
  4004: "Discord refuses the token: make a new one in the developer portal (Bot, Reset Token), " +
    "and set channels.discord.token",
  4010: "Discord refuses the shard that this program asks for",
  4011:
    "The bot is on so many servers that Discord wants it in shards, which this channel does not " +
    "have: use a bot of its own for the agent",
  4012: "Discord does not serve the version 10 of its gateway any more",
  4013: "Discord does not know the intents that this program asks for",
  4014: "Discord refuses the intent Message Content: switch it on in the developer portal " +
    "(discord.com/developers/applications, the application, Bot, Privileged Gateway Intents, " +
    "Message Content Intent), and start the channel again",
};

/** Why there is no sense in another try; undefined where there is. */
export function hopeless(code: number | undefined): string | undefined {
  return WORDS[code ?? 0];
}
