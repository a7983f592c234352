// Connects a rule in C with the host of interpreters. It needs no C library.
//
// The host passes a parsed document, the view, so a rule never parses. A node is a part of that document. Every function
// accepts a missing node.
#ifndef KINDSIGHT_H
#define KINDSIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A text of the document, or of the rule. Not terminated by a zero.
typedef struct {
  const char *bytes;
  uint32_t length;
} ks_text;

#define KS_TEXT(literal) ((ks_text){literal, sizeof(literal) - 1})

// The index of a node of the view. KS_MISSING if there is none.
typedef uint32_t ks_node;
#define KS_MISSING UINT32_MAX

// The object that is judged, the set of the related objects of a rule, and the operator's settings.
ks_node ks_object(void);
ks_node ks_related(uint32_t rule);
ks_node ks_settings(void);

// The member of an object, by name. KS_MISSING if there is none.
ks_node ks_get(ks_node node, const char *name);
// The number of items of an array, and the item at an index. 0 and KS_MISSING if it is no array.
uint32_t ks_count(ks_node array);
ks_node ks_item(ks_node array, uint32_t index);
// The text of a string. Empty if it is no string.
ks_text ks_string(ks_node node);
// Reads an integer. Returns false if the node is none.
bool ks_integer(ks_node node, int64_t *value);
bool ks_is_true(ks_node node);
bool ks_is(ks_text text, const char *other);

// The answer of a rule. Set `failure` to decline or refuse the object instead; `message` is its text.
typedef enum { KS_VERDICT, KS_UNSUPPORTED, KS_INVALID_OBJECT, KS_INVALID_SETTINGS, KS_INTERNAL } ks_failure;

typedef struct {
  ks_failure failure;
  ks_text state, reason, message;
  // Times in Unix milliseconds. A time counts only if its flag is set.
  bool has_since, has_recheck;
  int64_t since_ms, recheck_at_ms;
} ks_answer;

// The rule, which the author writes. `now_ms` is NULL unless the Kind has `uses-now`.
ks_answer judge(const int64_t *now_ms);

#endif
