/** Options of {@linkcode TextLineStream}. */
export interface TextLineStreamOptions {
  /** Also split at a lone carriage return. */
  allowCR?: boolean;
}

/** Splits text into lines, without their line ends. */
export declare class TextLineStream extends TransformStream<string, string> {
  constructor(options?: TextLineStreamOptions);
}
