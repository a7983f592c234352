package main

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
	// The field with the object, or with the part of the object that `under` names.
	object string
	under  string
	// The field with the list of conditions, if it is apart from the object.
	conditions string
	// A field whose cases are left out: their word depends on more than the object.
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
