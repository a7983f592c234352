"""How Pods fare on each cluster: kwok Stages that play the kubelet.

A Stage matches Pods by their fields and then patches their status. Go templates are filled in by kwok, `$word` by us.
"""

import json
from string import Template

# What a Pod's `app` label says, and so which Pods a Stage is about.
FIREWALL, SINK, WARMUP = "firewall", "sink", "packetgen-warmup"

WARMUP_MILLISECONDS = 2000

# Until a Pod has its address, the kubelet has said nothing about it.
STARTS = [
    {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
    {"key": ".status.podIP", "operator": "DoesNotExist"},
]

STARTED = Template("""
phase: $phase
observedGeneration: {{ .metadata.generation }}
startTime: {{ Now | Quote }}
hostIP: {{ NodeIPWith .spec.nodeName | Quote }}
podIP: {{ PodIPWith .spec.nodeName false .metadata.uid .metadata.name .metadata.namespace | Quote }}
conditions:
- {type: PodReadyToStartContainers, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Initialized, status: "True", lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "$ready", $why lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "$ready", $why lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .spec.containers }}
- name: {{ .name }}
  image: {{ .image }}
  imageID: ""
  lastState: {}
  ready: $is_ready
  restartCount: 0
  started: $is_started
  state: $state
{{ end }}
""")

NOT_READY = (
    "reason: ContainersNotReady, "
    "message: 'containers with unready status: [{{ (index .spec.containers 0).name }}]',"
)
RUNNING = "{running: {startedAt: {{ Now | Quote }}}}"
IMAGE_PULL_BACK_OFF = """
    waiting:
      reason: ImagePullBackOff
      message: >-
        Back-off pulling image "{{ .image }}": ErrImagePull: failed to pull and unpack image "{{ .image }}":
        failed to resolve reference "{{ .image }}": {{ .image }}: not found
"""

COMPLETED = """
phase: Succeeded
conditions:
- {type: PodReadyToStartContainers, status: "False", lastTransitionTime: {{ Now | Quote }}}
- {type: Initialized, status: "True", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
- {type: Ready, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
- {type: ContainersReady, status: "False", reason: PodCompleted, lastTransitionTime: {{ Now | Quote }}}
containerStatuses:
{{ range .status.containerStatuses }}
- name: {{ .name }}
  image: {{ .image }}
  imageID: ""
  lastState: {}
  ready: false
  restartCount: 0
  started: false
  state:
    terminated:
      exitCode: 0
      reason: Completed
      startedAt: {{ .state.running.startedAt | Quote }}
      finishedAt: {{ Now | Quote }}
{{ end }}
"""


def stages(cluster: str) -> str:
    """The kwok configuration of one cluster: JSON documents, which YAML takes as they are."""
    every = {"edge01": _healthy, "edge02": _broken}[cluster]()
    every.append(_stage("pod-goes", [{"key": ".metadata.deletionTimestamp", "operator": "Exists"}], delete=True))
    return "\n---\n".join(json.dumps(stage) for stage in every)


def _healthy() -> list[dict]:
    """All Pods run and are ready; the Job's Pod does its work and ends well."""
    finishes = [
        {"key": ".metadata.deletionTimestamp", "operator": "DoesNotExist"},
        {"key": ".status.phase", "operator": "In", "values": ["Running"]},
        _app("In", WARMUP),
    ]
    return [
        _stage("pod-runs", STARTS, _runs(ready=True)),
        _stage("warmup-finishes", finishes, COMPLETED, delay_ms=WARMUP_MILLISECONDS),
    ]


def _broken() -> list[dict]:
    """The firewall's image cannot be pulled, the sink never gets ready, the Job's Pod never finishes."""
    image_missing = STARTED.substitute(
        phase="Pending",
        ready="False",
        why=NOT_READY,
        is_ready="false",
        is_started="false",
        state=IMAGE_PULL_BACK_OFF,
    )
    return [
        _stage("pod-runs", [*STARTS, _app("NotIn", FIREWALL, SINK)], _runs(ready=True)),
        _stage("firewall-image-is-missing", [*STARTS, _app("In", FIREWALL)], image_missing),
        _stage("sink-runs-unready", [*STARTS, _app("In", SINK)], _runs(ready=False)),
    ]


def _runs(ready: bool) -> str:
    return STARTED.substitute(
        phase="Running",
        ready=str(ready),
        why="" if ready else NOT_READY,
        is_ready=str(ready).lower(),
        is_started="true",
        state=RUNNING,
    )


def _app(operator: str, *apps: str) -> dict:
    return {"key": ".metadata.labels.app", "operator": operator, "values": list(apps)}


def _stage(name: str, when: list[dict], status: str = "", delete: bool = False, delay_ms: int = 0) -> dict:
    # A Job's Pods carry a finalizer that the Job controller takes off itself: only the deletion is the kubelet's.
    then = {"delete": True} if delete else {"patches": [{"subresource": "status", "root": "status", "template": status}]}
    return {
        "apiVersion": "kwok.x-k8s.io/v1alpha1",
        "kind": "Stage",
        "metadata": {"name": name},
        "spec": {
            "resourceRef": {"apiGroup": "v1", "kind": "Pod"},
            "selector": {"matchExpressions": when},
            "delay": {"durationMilliseconds": delay_ms},
            "next": then,
        },
    }
