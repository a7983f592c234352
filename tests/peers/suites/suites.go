package main

import (
	"fmt"
	"go/ast"
)

// A suite: a repository, its files with tests, and how to read them.
type suite struct {
	repository string
	// Folders whose constants and functions the tests use.
	constants []string
	files     []string
	read      func(reader *reader, file string) []testCase
}

// A table of a test function: each case has an object and an expected word.
type table struct {
	function   string
	apiVersion string
	kind       string
	// The field with the object, or with the part of the object that `under` names. `field.member` is a part of a field.
	object string
	under  string
	// The field with the list of conditions, if it is apart from the object.
	conditions string
	// Whether a case with several objects in a list is left out: its word is about all of them.
	single bool
	// Makes the object of a case whose field is a function.
	build func(reader *reader, value any) (any, error)
	// A field whose cases are left out if it has a value: their word depends on more than the object.
	without string
	word    word
}

const (
	serving  = "pkg/apis/serving/v1"
	eventing = "pkg/apis/eventing/v1"
	pipeline = "pkg/apis/pipeline/v1"
	beta     = "pkg/apis/pipeline/v1beta1"
	summary  = "pkg/summary"
	health   = "pkg/utils/kubernetes/health"
	checker  = "pkg/health/checker/builtin"
	apps     = "pkg/controller/argocd/api/v1alpha1"
	rollouts = "pkg/apis/rollouts/v1alpha1"
	info     = "pkg/kubectl-argo-rollouts/info/testdata"
	acm      = "controllers"
	cloneset = "pkg/controller/cloneset/utils"
	clusters = "pkg/controller/clusters"
	packaged = "cmd/kubeapps-apis/plugins/fluxv2/packages/v1alpha1"
	virtual  = "../kubevirt+kubevirt/staging/src/kubevirt.io/api/core/v1"
	keda     = "../kedacore+keda/apis/keda/v1alpha1"
)

var suites = []suite{
	{
		repository: "flanksource+is-healthy",
		files:      []string{"pkg/health/health_test.go"},
		read:       assertions,
	},
	{
		repository: "rancher+wrangler",
		constants:  []string{summary},
		files: []string{
			summary + "/capi_cluster_test.go", summary + "/capi_machine_test.go", summary + "/capi_machineset_test.go",
		},
		read: tables(
			table{function: "TestCheckCAPIClusterTransitioning", object: "obj", conditions: "conditions", word: summarized},
			table{function: "TestCheckCAPIMachineSetAndDeploymentTransitioning", object: "obj", conditions: "conditions", word: summarized},
			table{
				function: "TestCheckCAPIMachineTransitioning", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Machine",
				conditions: "conditions", word: summarized,
			},
		),
	},
	{
		repository: "gardener+gardener",
		constants:  []string{"pkg/apis/core/v1beta1", "pkg/apis/resources/v1alpha1"},
		files:      []string{health + "/managedresource_test.go", health + "/monitoring_test.go"},
		read: entries(
			table{function: "#CheckManagedResource", apiVersion: "resources.gardener.cloud/v1alpha1", kind: "ManagedResource"},
			table{function: "CheckPrometheus", apiVersion: "monitoring.coreos.com/v1", kind: "Prometheus"},
			table{function: "CheckAlertmanager", apiVersion: "monitoring.coreos.com/v1", kind: "Alertmanager"},
		),
	},
	{
		repository: "knative+serving",
		constants:  []string{serving},
		files: []string{
			serving + "/service_lifecycle_test.go", serving + "/route_lifecycle_test.go",
			serving + "/configuration_lifecycle_test.go", serving + "/revision_lifecycle_test.go",
		},
		read: tables(knative("Service", "Route", "Configuration", "Revision")...),
	},
	{
		repository: "tektoncd+pipeline",
		constants:  []string{pipeline, beta},
		files: []string{
			pipeline + "/taskrun_types_test.go", pipeline + "/pipelinerun_types_test.go", beta + "/customrun_types_test.go",
		},
		read: tables(
			run("TestIsSuccessful", "v1", "TaskRun", "taskRun", truth("want", "ready", "not ready")),
			run("TestIsFailure", "v1", "TaskRun", "taskRun", truth("want", "failed", "not failed")),
			run("TestPipelineRunIsSuccessful", "v1", "PipelineRun", "pipelineRun", truth("want", "ready", "not ready")),
			run("TestPipelineRunIsFailure", "v1", "PipelineRun", "pipelineRun", truth("want", "failed", "not failed")),
			run("TestCustomRunIsSuccessful", "v1beta1", "CustomRun", "customRun", truth("want", "ready", "not ready")),
		),
	},
	{
		repository: "tektoncd+cli",
		files:      []string{"pkg/formatted/k8s_test.go"},
		read: tables(table{
			function: "TestCondition", apiVersion: "tekton.dev/v1", kind: "PipelineRun", conditions: "condition", word: words("want"),
		}),
	},
	{
		repository: "akuity+kargo",
		constants:  []string{apps},
		files:      []string{checker + "/argocd_test.go"},
		read: tables(
			table{
				function: "Test_argocdUpdater_getApplicationHealth", apiVersion: "argoproj.io/v1alpha1", kind: "Application",
				object: "appStatus", under: "status", without: "desiredRevisions", word: asserted,
			},
			table{
				function: "Test_argocdUpdater_stageHealthForAppHealth", apiVersion: "argoproj.io/v1alpha1", kind: "Application",
				object: "app", word: asserted,
			},
		),
	},
	{
		repository: "argoproj+argo-rollouts",
		constants:  []string{rollouts, "utils/annotations", "utils/rollout"},
		files:      []string{"utils/rollout/rolloututil_test.go"},
		read:       checks("GetRolloutPhase", "argoproj.io/v1alpha1", "Rollout"),
	},
	{
		repository: "argoproj+argo-rollouts",
		files:      []string{"pkg/kubectl-argo-rollouts/cmd/get/get_test.go"},
		read:       trees(info),
	},
	{
		repository: "jenkins-x+lighthouse",
		files:      []string{"pkg/engines/tekton/test_data/activity"},
		read:       records,
	},
	{
		repository: "kubeflow+pipelines",
		files:      []string{"backend/src/common/util/workflow_test.go"},
		read: tables(table{
			function: "TestWorkflow_IsInFinalState", apiVersion: "argoproj.io/v1alpha1", kind: "Workflow",
			object: "phase", under: "status.phase", word: truth("expected", "final", "not final"),
		}),
	},
	{
		repository: "fluxcd+flux2",
		files:      []string{"cmd/flux/readiness_test.go"},
		read: tables(table{
			function: "Test_isObjectReady", apiVersion: "source.toolkit.fluxcd.io/v1", kind: "GitRepository",
			object: "args.obj", word: dynamic,
		}),
	},
	{
		repository: "stolostron+cluster-backup-operator",
		constants:  []string{acm},
		files:      []string{acm + "/restore_test.go", acm + "/schedule_test.go"},
		read: tables(
			table{
				function: "Test_isVeleroRestoreFinished", apiVersion: "velero.io/v1", kind: "Restore", object: "args.restore",
				word: truth("want", "final", "not final"),
			},
			table{
				function: "Test_isVeleroRestoreRunning", apiVersion: "velero.io/v1", kind: "Restore", object: "args.restore",
				word: truth("want", "not final", "final"),
			},
			table{
				function: "Test_setSchedulePhase", apiVersion: "velero.io/v1", kind: "Schedule", object: "args.schedules.items",
				word: words("want"),
			},
		),
	},
	{
		repository: "openshift-pipelines+pipelines-as-code",
		files:      []string{"pkg/formatting/pipelinerun_test.go"},
		read: tables(table{
			function: "TestPipelineRunStatus", apiVersion: "tekton.dev/v1", kind: "PipelineRun", object: "pr", word: words("name"),
		}),
	},
	{
		repository: "openkruise+kruise",
		files:      []string{cloneset + "/cloneset_utils_test.go"},
		read: tables(table{
			function: "TestCloneSetAvailable", apiVersion: "apps.kruise.io/v1beta1", kind: "CloneSet", object: "modifyStatus",
			build: cloneSet, word: truth("expectedResult", "ready", "not ready"),
		}),
	},
	{
		repository: "kubernetes-sigs+prow",
		constants:  []string{"pkg/apis/prowjobs/v1"},
		files:      []string{"cmd/pipeline/controller_test.go"},
		read: tables(table{
			function: "TestProwJobStatus", apiVersion: "tekton.dev/v1", kind: "PipelineRun", object: "input", under: "status",
			word: words("state"),
		}),
	},
	{
		repository: "knative-extensions+net-certmanager",
		constants:  []string{"pkg/reconciler/certificate/resources"},
		files:      []string{"pkg/reconciler/certificate/resources/cert_manager_certificate_test.go"},
		read: tables(table{
			function: "TestGetReadyCondition", apiVersion: "cert-manager.io/v1", kind: "Certificate", object: "cmCertificate",
			word: conditionWord("want", "Ready"),
		}),
	},
	{
		repository: "aws+eks-anywhere",
		constants:  []string{"internal/test", "pkg/api/v1alpha1", clusters},
		files:      []string{clusters + "/status_test.go"},
		read: tables(
			table{
				function: "TestUpdateClusterStatusForControlPlane", apiVersion: "controlplane.cluster.x-k8s.io/v1beta2",
				kind: "KubeadmControlPlane", object: "kcp", without: "externalEtcdCluster",
				word: conditionWord("wantCondition", "ControlPlaneReady"),
			},
			table{
				function: "TestUpdateClusterStatusForWorkers", apiVersion: "cluster.x-k8s.io/v1beta2", kind: "MachineDeployment",
				object: "machineDeployments", single: true, word: conditionWord("wantCondition", "WorkersReady"),
			},
		),
	},
	{
		repository: "kserve+kserve",
		constants:  []string{keda},
		files: []string{
			"pkg/apis/serving/v1beta1/inference_service_status_test.go",
			"pkg/controller/v1alpha2/llmisvc/scaling_test.go",
		},
		read: tables(
			table{
				function: "TestPropagateStatus", apiVersion: "serving.knative.dev/v1", kind: "Service", object: "ServiceStatus",
				under: "status", word: truth("isReady", "ready", "not ready"),
			},
			table{
				function: "TestPropagateScaledObjectStatus", apiVersion: "keda.sh/v1alpha1", kind: "ScaledObject", object: "so",
				word: truth("wantReady", "ready", "not ready"),
			},
		),
	},
	{
		repository: "dbonne+cnpg-ui",
		constants:  []string{"../cloudnative-pg+cloudnative-pg/api/v1"},
		files:      []string{"internal/k8s/status_test.go"},
		read: tables(table{
			function: "TestNormalizedStatus", apiVersion: "postgresql.cnpg.io/v1", kind: "Cluster", object: "phase",
			under: "status.phase", word: named("want", "Status"),
		}),
	},
	{
		repository: "openmcp-project+control-plane-operator",
		constants:  []string{"pkg/juggler/fluxcd"},
		files:      []string{"pkg/juggler/fluxcd/flux_manifesto_test.go", "pkg/juggler/fluxcd/flux_sources_test.go"},
		read: tables(
			healthiness("TestHelmReleaseManifesto_GetHealthiness", "helm.toolkit.fluxcd.io/v2", "HelmRelease", "manifesto.manifest"),
			healthiness("TestHelmRepositoryAdapter_GetHealthiness", "source.toolkit.fluxcd.io/v1", "HelmRepository", "adapter.source"),
			healthiness("TestGitRepositoryAdapter_GetHealthiness", "source.toolkit.fluxcd.io/v1", "GitRepository", "adapter.source"),
			healthiness("TestOCIRepositoryAdapter_GetHealthiness", "source.toolkit.fluxcd.io/v1", "OCIRepository", "adapter.source"),
		),
	},
	{
		repository: "openmcp-project+service-provider-flux",
		files:      []string{"pkg/flux/flux_test.go"},
		read: tables(table{
			function: "TestFluxStatus", apiVersion: "helm.toolkit.fluxcd.io/v2", kind: "HelmRelease", object: "obj",
			word: named("expected", ""),
		}),
	},
	{
		repository: "netgroup-polito+CrownLabs",
		constants:  []string{"operators/api/v1alpha2", "../kubevirt+kubevirt/staging/src/kubevirt.io/api/core/v1"},
		files:      []string{"operators/pkg/instctrl/statusinspection_test.go"},
		read: phases(
			table{function: "The statusinspection.RetrievePhaseFromVM function", apiVersion: "kubevirt.io/v1", kind: "VirtualMachine"},
			table{function: "The statusinspection.RetrievePhaseFromVMI function", apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance"},
		),
	},
	{
		repository: "osac-project+osac-operator",
		constants:  []string{"api/v1alpha1", virtual},
		files:      []string{"internal/controller/computeinstance_controller_test.go"},
		read:       phases(table{function: "maps PrintableStatus to phase", apiVersion: "kubevirt.io/v1", kind: "VirtualMachine"}),
	},
	{
		repository: "mhrivnak+ssvirt",
		constants:  []string{virtual},
		files:      []string{"pkg/controllers/vmstatus_controller_test.go"},
		read: tables(table{
			function: "TestMapVMStatus", apiVersion: "kubevirt.io/v1", kind: "VirtualMachine", object: "vm", word: words("expected"),
		}),
	},
	{
		repository: "k0rdent+kcm",
		constants:  []string{"api/v1beta1"},
		files:      []string{"internal/controller/adapters/sveltos/state_test.go"},
		read: states(
			"Test_servicesStateFromSummary_Helm", "apiVersion: config.projectsveltos.io/v1beta1\nkind: ClusterSummary",
			"summary", "expected", "State",
		),
	},
	{
		repository: "controlplaneio-fluxcd+flux-operator",
		constants:  []string{"api/v1", "internal/reporter"},
		files:      []string{"internal/reporter/resource_status_test.go"},
		read: expected("NewResourceStatus", "Status", map[string]string{
			"Kustomization": "kustomize.toolkit.fluxcd.io/v1", "HelmRelease": "helm.toolkit.fluxcd.io/v2",
			"HelmRepository": "source.toolkit.fluxcd.io/v1",
		}),
	},
	{
		repository: "replicatedhq+kots",
		constants:  []string{"pkg/kotsadmsnapshot/types"},
		files:      []string{"pkg/kotsadmsnapshot/types/types_test.go"},
		read: tables(table{
			function: "TestGetStatusFromBackupPhase", apiVersion: "velero.io/v1", kind: "Backup", object: "phase",
			under: "status.phase", word: words("expected"),
		}),
	},
	{
		repository: "vmware-tanzu+kubeapps",
		constants:  []string{packaged},
		files:      []string{packaged + "/release_test.go"},
		read:       packages,
	},
	{
		repository: "argoproj+argo-workflows",
		constants:  []string{"pkg/apis/workflow/v1alpha1"},
		files:      []string{"pkg/apis/workflow/v1alpha1/workflow_phase_test.go"},
		read: assertedPhases(
			"TestWorkflowPhase_Completed", "Completed", "argoproj.io/v1alpha1", "Workflow", "final", "not final",
		),
	},
	{
		repository: "konflux-ci+konflux-ui",
		files:      []string{"src/utils/__tests__/pipeline-utils.spec.ts"},
		read: scripts([]string{"src/__data__/pipelinerun-data.ts"}, verdictOf{
			function: "pipelineRunStatus", apiVersion: "tekton.dev/v1", kind: "PipelineRun",
		}),
	},
	{
		repository: "headlamp-k8s+plugins",
		files:      []string{"strimzi/src/crds.test.ts"},
		read: scripts(nil,
			strimzi("isKafkaReady", "Kafka"), strimzi("isTopicReady", "KafkaTopic"), strimzi("isUserReady", "KafkaUser"),
			strimzi("isConnectReady", "KafkaConnect"), verdictOf{
				function: "isConnectorPaused", apiVersion: "kafka.strimzi.io/v1beta2", kind: "KafkaConnector", yes: "paused",
				no: "not paused",
			},
		),
	},
}

func strimzi(function, kind string) verdictOf {
	return verdictOf{function: function, apiVersion: "kafka.strimzi.io/v1beta2", kind: kind, yes: "ready", no: "not ready"}
}

// The tables of `IsReady` and `IsFailed` of Kinds of Knative.
func knative(kinds ...string) []table {
	var all []table
	for _, kind := range kinds {
		of := table{apiVersion: "serving.knative.dev/v1", kind: kind, object: "status", under: "status"}
		of.function = "Test" + kind + "IsReady"
		of.word = truth("isReady", "ready", "not ready")
		all = append(all, of)
		of.function = "Test" + kind + "IsFailed"
		of.word = truth("isFailed", "failed", "not failed")
		all = append(all, of)
	}
	return all
}

// A table of a run of Tekton.
func run(function, version, kind, object string, word word) table {
	return table{function: function, apiVersion: "tekton.dev/" + version, kind: kind, object: object, word: word}
}

// The tables of `GetHealthiness` of the objects of Flux.
func healthiness(function, apiVersion, kind, object string) table {
	healthy := func(reader *reader, fields map[string]ast.Expr) (string, error) {
		value, err := reader.value(fields["expected"], nil)
		expected, _ := value.(map[string]any)
		if expected["healthy"] == true {
			return "ready", err
		}
		return "not ready", err
	}
	return table{function: function, apiVersion: apiVersion, kind: kind, object: object, word: healthy}
}

// Kruise's set, with the status that a case changes.
func cloneSet(reader *reader, value any) (any, error) {
	set, _ := copied(reader.outer["cs"]).(map[string]any)
	status := copied(reader.outer["newStatus"])
	change, ok := value.(closure)
	if !ok || set == nil {
		return nil, fmt.Errorf("no function that changes the status")
	}
	_, err := reader.enter(change, []any{status})
	set["status"] = status
	return set, err
}
