// Interpreter: widgets of example.com, written only from wit/interpreter.wit and the schemas beside
// it.

export const description = {
  describe: () => JSON.stringify({
    name: "widgets-js",
    version: "1.0.0",
    summary: "Widgets of example.com",
    kinds: [{
      group: "example.com",
      kind: "Widget",
      fields: ["/status/phase"],
      related: [{ group: "", kind: "Pod", relation: "owned", limit: 1 }],
    }],
    states: [
      { name: "Ready", phase: "ready", summary: "Works as requested" },
      { name: "Pending", phase: "pending", summary: "Not ready yet" },
      { name: "Draining", phase: "pending", summary: "Finishing its work before it stops" },
    ],
  }),

  fixtures: () => JSON.stringify([
    {
      name: "a running widget",
      object: widget({ phase: "Running" }),
      related: [pod("left-0")],
      expect: { state: "Ready", reason: "Running" },
    },
    {
      name: "a running widget whose Pods are not reported",
      object: widget({ phase: "Running" }),
      expect: { state: "Ready" },
    },
    {
      name: "a running widget without Pods",
      object: widget({ phase: "Running" }),
      related: [],
      expect: { state: "Pending", reason: "NoPods" },
    },
    { name: "a draining widget", object: widget({ phase: "Draining" }), expect: { state: "Draining" } },
    { name: "a new widget", object: widget({}), expect: { state: "Pending", reason: "NotRunning" } },
    { name: "a phase that is not a text", object: widget({ phase: 1 }), expect: { failure: "invalid-object" } },
  ]),
};

export const text = {
  judge(input) {
    try {
      return judge(input);
    } catch (error) {
      // A failure must be thrown with the name of the variant's case and its text. Any other
      // exception would be a trap without a text.
      throw error.tag ? error : { tag: "internal", val: String(error) };
    }
  },
};

function judge({ object, related: [pods] }) {
  const phase = JSON.parse(object).status?.phase ?? "";
  if (typeof phase !== "string") {
    throw { tag: "invalid-object", val: "status.phase is not a string" };
  }
  if (phase === "Running") {
    // An empty set means that there are no Pods only if the coverage is complete.
    if (pods.coverage === "complete" && pods.total === 0) {
      return verdict("Pending", "NoPods", "says that it runs, and owns no Pod");
    }
    return verdict("Ready", "Running", "");
  }
  if (phase === "Draining") {
    return verdict("Draining", "Draining", "it finishes its work");
  }
  return verdict("Pending", "NotRunning", phase === "" ? "no phase yet" : `its phase is ${phase}`);
}

function verdict(state, reason, message) {
  return { state, reason, message };
}

function widget(status) {
  return { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "left" }, status };
}

function pod(name) {
  const ownerReferences = [{ apiVersion: "example.com/v1", kind: "Widget", name: "left" }];
  return { apiVersion: "v1", kind: "Pod", metadata: { name, ownerReferences } };
}
