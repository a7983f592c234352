// The canonical ABI of the world `view-interpreter`, and a reader of the view. See kindsight.h.
#include "kindsight.h"

// `kindsight plugin build` writes this file: the description and the fixtures as JSON.
#include "build/data.h"

enum { KIND_TRUE = 2, KIND_NUMBER = 3, KIND_STRING = 4, KIND_ARRAY = 5, KIND_OBJECT = 6 };
enum { HEAD_BYTES = 4, NODE_BYTES = 16, PAGE_BYTES = 65536 };

// The view of the present call.
static const uint8_t *view;
static uint32_t node_count;

static uint32_t word(const uint8_t *at) {
  return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static const uint8_t *node_at(ks_node node) { return view + HEAD_BYTES + NODE_BYTES * node; }

static uint32_t kind_of(ks_node node) { return node < node_count ? node_at(node)[0] : 0; }

static const char *text_at(uint32_t start) {
  return (const char *)view + HEAD_BYTES + NODE_BYTES * node_count + start;
}

// The node after a node and all its parts.
static ks_node after(ks_node node) {
  uint32_t kind = kind_of(node);
  return kind == KIND_ARRAY || kind == KIND_OBJECT ? word(node_at(node) + 12) : node + 1;
}

static uint32_t length_of(const char *text) {
  uint32_t length = 0;
  while (text[length] != 0) length++;
  return length;
}

static bool same(const char *one, uint32_t length, const char *other) {
  if (length != length_of(other)) return false;
  for (uint32_t at = 0; at < length; at++) {
    if (one[at] != other[at]) return false;
  }
  return true;
}

ks_node ks_get(ks_node node, const char *name) {
  if (kind_of(node) != KIND_OBJECT) return KS_MISSING;
  for (ks_node part = node + 1; part < after(node); part = after(part)) {
    const uint8_t *at = node_at(part);
    if (same(text_at(word(at + 4)), word(at) >> 8, name)) return part;
  }
  return KS_MISSING;
}

uint32_t ks_count(ks_node array) { return kind_of(array) == KIND_ARRAY ? word(node_at(array) + 8) : 0; }

ks_node ks_item(ks_node array, uint32_t index) {
  if (index >= ks_count(array)) return KS_MISSING;
  ks_node part = array + 1;
  while (index-- > 0) part = after(part);
  return part;
}

static ks_text value_of(ks_node node) {
  const uint8_t *at = node_at(node);
  return (ks_text){text_at(word(at + 8)), word(at + 12)};
}

ks_text ks_string(ks_node node) { return kind_of(node) == KIND_STRING ? value_of(node) : (ks_text){"", 0}; }

bool ks_integer(ks_node node, int64_t *value) {
  if (kind_of(node) != KIND_NUMBER) return false;
  ks_text text = value_of(node);
  uint32_t at = text.length > 0 && text.bytes[0] == '-' ? 1 : 0;
  // 18 digits always fit.
  if (at == text.length || text.length - at > 18) return false;
  int64_t sum = 0;
  for (uint32_t digit = at; digit < text.length; digit++) {
    if (text.bytes[digit] < '0' || text.bytes[digit] > '9') return false;
    sum = sum * 10 + (text.bytes[digit] - '0');
  }
  *value = at == 1 ? -sum : sum;
  return true;
}

bool ks_is_true(ks_node node) { return kind_of(node) == KIND_TRUE; }

bool ks_is(ks_text text, const char *other) { return same(text.bytes, text.length, other); }

ks_node ks_object(void) { return ks_get(0, "object"); }
ks_node ks_related(uint32_t rule) { return ks_item(ks_get(0, "related"), rule); }
ks_node ks_settings(void) { return ks_get(0, "settings"); }

// The layout of `result<verdict, failure>`.
typedef struct {
  uint8_t is_some;
  int64_t value;
} optional;

typedef struct {
  uint8_t is_failure;
  union {
    struct {
      ks_text state, reason, message;
      optional since, recheck;
    } verdict __attribute__((aligned(8)));
    struct {
      uint8_t kind;
      ks_text text;
    } failure;
  } of;
} result;

static result answer;
static ks_text returned;

// Memory of the present call's input. The host asks for it once in each call, before the call.
extern uint8_t __heap_base;

__attribute__((export_name("cabi_realloc"))) void *cabi_realloc(void *old, size_t old_size, size_t align, size_t size) {
  (void)old, (void)old_size, (void)align;
  // The base is aligned to 16 bytes by the linker. The input of the last call is overwritten.
  uintptr_t end = (uintptr_t)&__heap_base + size;
  size_t pages = (end + PAGE_BYTES - 1) / PAGE_BYTES, now = __builtin_wasm_memory_size(0);
  if (pages > now && __builtin_wasm_memory_grow(0, pages - now) == (size_t)-1) __builtin_trap();
  return &__heap_base;
}

__attribute__((export_name("kindsight:interpreter/description@1.0.0#describe"))) const ks_text *describe(void) {
  returned = (ks_text){KS_DESCRIPTION, sizeof(KS_DESCRIPTION) - 1};
  return &returned;
}

__attribute__((export_name("kindsight:interpreter/description@1.0.0#fixtures"))) const ks_text *fixtures(void) {
  returned = (ks_text){KS_FIXTURES, sizeof(KS_FIXTURES) - 1};
  return &returned;
}

__attribute__((export_name("kindsight:interpreter/view@1.0.0#judge-view"))) const result *
judge_view(const uint8_t *input, uint32_t length, uint32_t has_now, int64_t now_ms) {
  (void)length;
  view = input;
  node_count = word(input);
  ks_answer given = judge(has_now ? &now_ms : NULL);
  answer.is_failure = given.failure != KS_VERDICT;
  if (answer.is_failure) {
    answer.of.failure.kind = (uint8_t)(given.failure - KS_UNSUPPORTED);
    answer.of.failure.text = given.message;
    return &answer;
  }
  answer.of.verdict.state = given.state;
  answer.of.verdict.reason = given.reason;
  answer.of.verdict.message = given.message;
  answer.of.verdict.since = (optional){given.has_since, given.since_ms};
  answer.of.verdict.recheck = (optional){given.has_recheck, given.recheck_at_ms};
  return &answer;
}
