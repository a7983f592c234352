"""Types for rules. `interpreter.py` connects a rule with the host."""

from dataclasses import dataclass, field


@dataclass
class Verdict:
    """The meaning of one object's status. Times are in Unix milliseconds."""

    state: str
    reason: str = ""
    message: str = ""
    since_ms: int | None = None
    recheck_at_ms: int | None = None


@dataclass
class RelatedSet:
    """The related objects that one rule of description.yaml found."""

    objects: list
    total: int
    coverage: str  # complete, partial or unknown


@dataclass
class Input:
    """What a call has besides the object."""

    related: list[RelatedSet] = field(default_factory=list)
    now_ms: int | None = None
    settings: dict = field(default_factory=dict)


class Unsupported(Exception):
    """Declines the object: the next less specific interpreter judges it."""


class InvalidObject(Exception):
    """The object is not valid for its Kind."""


class InvalidSettings(Exception):
    """A setting cannot be used. Names it, and its valid values."""
