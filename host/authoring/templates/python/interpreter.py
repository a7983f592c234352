"""Connects the rule with the host. The build runs this module once and keeps its memory in the component."""

import json
import sys
import traceback
from pathlib import Path

from componentize_py_types import Err
from wit_world import exports
from wit_world.imports import types

import kindsight
import rule

# `kindsight plugin build` writes this file, which is on the path of modules.
DATA_FILE = next(path for folder in sys.path if (path := Path(folder, "data.json")).exists())
DATA = json.loads(DATA_FILE.read_text())


class Description(exports.Description):
    def describe(self) -> str:
        return DATA["description"]

    def fixtures(self) -> str:
        return DATA["fixtures"]


class Text(exports.Text):
    def judge(self, input):
        try:
            verdict = rule.judge(json.loads(input.object), read(input))
        except kindsight.Unsupported as error:
            raise Err(types.Failure_Unsupported(str(error))) from error
        except kindsight.InvalidObject as error:
            raise Err(types.Failure_InvalidObject(str(error))) from error
        except kindsight.InvalidSettings as error:
            raise Err(types.Failure_InvalidSettings(str(error))) from error
        except Exception as error:
            text = "".join(traceback.format_exception_only(error))
            raise Err(types.Failure_Internal(text)) from error
        return types.Verdict(
            verdict.state, verdict.reason, verdict.message, verdict.since_ms, verdict.recheck_at_ms
        )


def read(input):
    related = [
        kindsight.RelatedSet([json.loads(it) for it in found.objects], found.total, found.coverage.name.lower())
        for found in input.related
    ]
    return kindsight.Input(related, input.now_ms, json.loads(input.settings))
