// The rule of the interpreter {{name}}.

// Judges one object with the fields of description.yaml. All of them may be missing or of any type.
export function judge(object, input) {
  const { metadata, status } = object;
  const observed = status?.observedGeneration;
  // Also true if one of them is no number.
  if (observed !== undefined && !(Number(observed) >= Number(metadata?.generation ?? 0))) {
    return { state: "Pending", reason: "Outdated", message: "the controller has not seen the newest generation" };
  }
  const conditions = Array.isArray(status?.conditions) ? status.conditions : [];
  const find = (type) => conditions.find((condition) => condition?.type === type);
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

function verdict(state, { reason, message }) {
  return { state, reason: String(reason ?? ""), message: String(message ?? "") };
}
