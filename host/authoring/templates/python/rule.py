"""The rule of the interpreter {{name}}."""

from kindsight import InvalidObject, Verdict


def judge(object, input):
    """Judges one object, a dict with the fields of description.yaml. All of them may be missing or of any type."""
    metadata, status = part(object, "metadata"), part(object, "status")
    generation, observed = metadata.get("generation", 0), status.get("observedGeneration")
    # Also true if one of them is no number.
    if observed is not None and not (isinstance(observed, int) and isinstance(generation, int) and observed >= generation):
        return Verdict("Pending", "Outdated", "the controller has not seen the newest generation")
    conditions = status.get("conditions")
    if not isinstance(conditions, list | None):
        raise InvalidObject("status.conditions is not a list")
    stalled = find(conditions or [], "Stalled")
    if stalled.get("status") == "True":
        return verdict("Failed", stalled)
    ready = find(conditions or [], "Ready")
    if not ready:
        return Verdict("Pending", "NoStatus", "there is no condition Ready yet")
    return verdict("Ready" if ready.get("status") == "True" else "Pending", ready)


def part(object, name):
    value = object.get(name)
    return value if isinstance(value, dict) else {}


def find(conditions, name):
    return next((it for it in conditions if isinstance(it, dict) and it.get("type") == name), {})


def verdict(state, condition):
    return Verdict(state, str(condition.get("reason", "")), str(condition.get("message", "")))
