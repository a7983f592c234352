// Connects the rule with the host.

import { data } from "./data.js";
import { judge } from "./rule.js";

export const description = {
  describe: () => data.description,
  fixtures: () => data.fixtures,
};

export const text = {
  judge({ object, related, nowMs, settings }) {
    try {
      const sets = related.map((set) => ({ ...set, objects: set.objects.map((json) => JSON.parse(json)) }));
      const input = { related: sets, nowMs, settings: JSON.parse(settings) };
      return { reason: "", message: "", ...judge(JSON.parse(object), input) };
    } catch (error) {
      // A rule throws `{ tag: "invalid-object", val: "…" }`. Any other exception would be a trap without a text.
      throw error?.tag ? error : { tag: "internal", val: String(error) };
    }
  },
};
