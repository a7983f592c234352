// Connects the rule with the host.

import type { RelatedSet } from "./kindsight.js";
// `kindsight plugin build` writes this file.
// @ts-ignore
import { data } from "./data.js";
import { judge } from "./rule.js";

interface JsonInput {
  object: string;
  related: (Omit<RelatedSet, "objects"> & { objects: string[] })[];
  nowMs?: bigint;
  settings: string;
}

export const description = {
  describe: (): string => data.description,
  fixtures: (): string => data.fixtures,
};

export const text = {
  judge({ object, related, nowMs, settings }: JsonInput) {
    try {
      const sets = related.map((set) => ({ ...set, objects: set.objects.map((json) => JSON.parse(json)) }));
      const input = { related: sets, nowMs, settings: JSON.parse(settings) };
      return { reason: "", message: "", ...judge(JSON.parse(object), input) };
    } catch (error) {
      // A rule throws a `Failure`. Any other exception would be a trap without a text.
      throw (error as { tag?: string })?.tag ? error : { tag: "internal", val: String(error) };
    }
  },
};
