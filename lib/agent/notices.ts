/**
 * What a turn tells people of itself while it goes on, where a recording has to know its words.
 *
 * @module
 */

export const SUMMARIZING =
  "Earlier messages are being summarized, to fit into the model's context.";
export const LEFT_OUT = "Parts of long messages were left out, to fit into the model's context.";
export const ASKED_AGAIN = "The model gave an empty answer and is asked once more.";
