// Types for rules. Times are in Unix milliseconds.

/** The meaning of one object's status. */
export interface Verdict {
  /** The name of a state in description.yaml. */
  state: string;
  /** One CamelCase word for programs. */
  reason?: string;
  /** A text for users. */
  message?: string;
  /** The time since which the object is in this state. */
  sinceMs?: bigint;
  /** The time at which the verdict may change although the object does not. Only for Kinds with `uses-now`. */
  recheckAtMs?: bigint;
}

/** The related objects that one rule of description.yaml found. */
export interface RelatedSet {
  objects: unknown[];
  total: number;
  coverage: "complete" | "partial" | "unknown";
}

/** What a call has besides the object. */
export interface Input {
  related: RelatedSet[];
  nowMs?: bigint;
  settings: unknown;
}

/** A failure is thrown. Any other exception becomes the failure `internal`. */
export interface Failure {
  tag: "unsupported" | "invalid-object" | "invalid-settings" | "internal";
  val: string;
}
