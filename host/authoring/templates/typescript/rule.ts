// The rule of the interpreter {{name}}.

import type { Input, Verdict } from "./kindsight.js";

// The fields of description.yaml. All of them may be missing or of any type in a cluster.
interface Condition {
  type?: unknown;
  status?: unknown;
  reason?: unknown;
  message?: unknown;
}

interface Judged {
  metadata?: { generation?: unknown };
  status?: { observedGeneration?: unknown; conditions?: Condition[] };
}

export function judge(object: Judged, _input: Input): Verdict {
  const observed = object.status?.observedGeneration;
  // Also true if one of them is no number.
  if (observed !== undefined && !(Number(observed) >= Number(object.metadata?.generation ?? 0))) {
    return { state: "Pending", reason: "Outdated", message: "the controller has not seen the newest generation" };
  }
  const conditions = Array.isArray(object.status?.conditions) ? object.status.conditions : [];
  const find = (type: string) => conditions.find((condition) => condition?.type === type);
  const stalled = find("Stalled");
  if (stalled?.status === "True") {
    return verdict("Failed", stalled);
  }
  const ready = find("Ready");
  if (ready === undefined) {
    return { state: "Pending", reason: "NoStatus", message: "there is no condition Ready yet" };
  }
  return verdict(ready.status === "True" ? "Ready" : "Pending", ready);
}

function verdict(state: string, { reason, message }: Condition): Verdict {
  return { state, reason: String(reason ?? ""), message: String(message ?? "") };
}
