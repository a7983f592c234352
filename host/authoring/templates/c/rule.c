// The rule of the interpreter {{name}}.
#include "kindsight.h"

static ks_answer verdict(ks_text state, ks_text reason, ks_text message) {
  return (ks_answer){.state = state, .reason = reason, .message = message};
}

static ks_answer of_condition(ks_text state, ks_node condition) {
  return verdict(state, ks_string(ks_get(condition, "reason")), ks_string(ks_get(condition, "message")));
}

// The condition of a type, or KS_MISSING.
static ks_node find(ks_node conditions, const char *type) {
  for (uint32_t index = 0; index < ks_count(conditions); index++) {
    ks_node condition = ks_item(conditions, index);
    if (ks_is(ks_string(ks_get(condition, "type")), type)) return condition;
  }
  return KS_MISSING;
}

static bool is_true(ks_node condition) { return ks_is(ks_string(ks_get(condition, "status")), "True"); }

ks_answer judge(const int64_t *now_ms) {
  (void)now_ms;
  ks_node status = ks_get(ks_object(), "status");
  int64_t generation, observed;
  ks_node seen = ks_get(status, "observedGeneration");
  // Also true if one of them is no number.
  if (seen != KS_MISSING && !(ks_integer(ks_get(ks_get(ks_object(), "metadata"), "generation"), &generation) &&
                              ks_integer(seen, &observed) && observed >= generation)) {
    return verdict(KS_TEXT("Pending"), KS_TEXT("Outdated"), KS_TEXT("the controller has not seen the newest generation"));
  }
  ks_node conditions = ks_get(status, "conditions");
  ks_node stalled = find(conditions, "Stalled"), ready = find(conditions, "Ready");
  if (is_true(stalled)) return of_condition(KS_TEXT("Failed"), stalled);
  if (ready == KS_MISSING) {
    return verdict(KS_TEXT("Pending"), KS_TEXT("NoStatus"), KS_TEXT("there is no condition Ready yet"));
  }
  return of_condition(is_true(ready) ? KS_TEXT("Ready") : KS_TEXT("Pending"), ready);
}
