/** Whether bytes are the same, in a time that only their number tells. Throws for different numbers. */
export declare function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
