/** Somebody in a room. */
export interface Occupant {
  /** Bare address, where the room shows it. */
  jid?: string;
  /** XEP-0421, where the room has it. */
  occupantId?: string;
}
