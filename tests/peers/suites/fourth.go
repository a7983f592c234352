package main

import (
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// The suites of the fourth set.
var fourth = []suite{
	{
		repository: "bergerx+kubectl-status",
		files:      []string{"tests/artifacts"},
		read:       artifacts,
	},
	{
		repository: "knative+eventing",
		files:      []string{eventing + "/trigger_lifecycle_test.go", eventing + "/broker_lifecycle_test.go"},
		read:       marks,
	},
	{
		repository: "openshift+hypershift",
		files:      []string{"hypershift-operator/controllers/nodepool/capi_test.go"},
		read: tables(table{
			function: "TestMachineDeploymentComplete", apiVersion: "cluster.x-k8s.io/v1beta1", kind: "MachineDeployment",
			object: "md", word: truth("expected", "complete", "not complete"),
		}),
	},
	{
		repository: "kubevirt+cloud-provider-kubevirt",
		constants:  []string{virtual},
		files:      []string{"pkg/provider/instances_v2_test.go"},
		read: outcomes(table{
			function: "With VMI phase check", apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", under: "status.phase",
		}, "shut down", "not shut down"),
	},
	{
		repository: "weaveworks+weave-gitops",
		files:      []string{"ui/lib/__tests__/utils.test.ts", "ui/components/__tests__/KubeStatusIndicator.test.tsx"},
		read:       indicators,
	},
	{
		repository: "kaito-project+kaito",
		files:      []string{"pkg/utils/nodeclaim/nodeclaim_test.go"},
		read: tables(table{
			function: "TestFirstNodeClaimProvisioningState", apiVersion: "karpenter.sh/v1", kind: "NodeClaim", object: "nodeClaims",
			single: true, word: truth("expectedFound", "provisioning", ""),
		}),
	},
	{
		repository: "fundament-oss+fundament",
		constants:  []string{shoots, "../gardener+gardener/pkg/apis/core/v1beta1"},
		files:      []string{shoots + "/status_test.go"},
		read: tables(table{
			function: "TestRealClientGetShootStatus", apiVersion: "core.gardener.cloud/v1beta1", kind: "Shoot", object: "shoot",
			build: called, word: shootWord,
		}),
	},
	{
		repository: "nebari-dev+nebari-operator",
		files:      []string{"internal/controller/reconcilers/tls/reconciler_test.go"},
		read: tables(table{
			function: "TestIsCertificateReady", apiVersion: "cert-manager.io/v1", kind: "Certificate", object: "cert",
			word: truth("expectReady", "ready", "not ready"),
		}),
	},
	{
		repository: "rhobs+observability-operator",
		constants:  []string{monitoring, "pkg/apis/monitoring/v1alpha1"},
		files:      []string{monitoring + "/conditions_test.go"},
		read: tables(table{
			function: "TestUpdateAvailable", apiVersion: "monitoring.coreos.com/v1", kind: "Prometheus", object: "prometheus",
			word: currentCondition("expectedResult", "prometheus"),
		}),
	},
	{
		repository: "janus-idp+backstage-plugins",
		files:      []string{"plugins/shared-react/src/utils/pipeline/pipeline.test.ts"},
		read: scripts(nil, verdictOf{
			function: "pipelineRunStatus", apiVersion: "tekton.dev/v1", kind: "PipelineRun",
		}),
	},
}

const (
	shoots     = "cluster-worker/pkg/client/gardener"
	monitoring = "pkg/controllers/monitoring/monitoring-stack"
)

// The word that `kubectl status` prints for an object below its name.
var artifactWord = regexp.MustCompile(`(?m)^  (Current|InProgress|Failed|Terminating|NotFound|Unknown): `)

// Reads objects in YAML, each with the text that `kubectl status` prints for it in a file of the same name.
func artifacts(reader *reader, folder string) []testCase {
	entries, err := os.ReadDir(filepath.Join(reader.root, folder))
	if err != nil {
		notRead(folder, err)
	}
	var cases []testCase
	for _, entry := range entries {
		name, isObject := strings.CutSuffix(entry.Name(), ".yaml")
		if !isObject {
			continue
		}
		printed, err := os.ReadFile(filepath.Join(reader.root, folder, name+".out"))
		word := artifactWord.FindSubmatch(printed)
		if err == nil && word != nil {
			cases = append(cases, testCase{ID: name, File: filepath.Join(folder, entry.Name()), Word: string(word[1])})
		}
	}
	return cases
}

// Reads the tables of Knative's Broker and Trigger. A case says which conditions the test marks, and the status of Ready.
func marks(reader *reader, file string) []testCase {
	var cases []testCase
	read := func(function string, one func(map[string]ast.Expr) testCase) {
		for _, test := range functionsNamed(reader, file, function) {
			ast.Inspect(test, func(node ast.Node) bool {
				literal, ok := node.(*ast.CompositeLit)
				if !ok || caseType(literal) == nil {
					return true
				}
				for _, element := range literal.Elts {
					fields := fieldsOf(element, caseType(literal))
					found := one(fields)
					found.ID = function + "/" + text(fields["name"])
					cases = append(cases, found)
				}
				return false
			})
		}
	}
	read("TestTriggerConditionStatus", trigger)
	read("TestBrokerIsReady", broker)
	return cases
}

// The Trigger that a case of the test marks.
func trigger(fields map[string]ast.Expr) testCase {
	dependency := "True"
	if isTrue(fields["dependencyAnnotationExists"]) {
		dependency = statusOf(typeName(fields["dependencyStatus"]))
	}
	conditions := map[string]string{
		"BrokerReady":            statusOf(calledName(fields["brokerStatus"])),
		"SubscriptionReady":      statusOf(calledName(fields["subscriptionCondition"])),
		"SubscriberResolved":     marked(fields["subscriberResolvedStatus"]),
		"DeadLetterSinkResolved": marked(fields["dlsResolvedStatus"]),
		"OIDCIdentityCreated":    marked(fields["oidcServiceAccountStatus"]),
		"DependencyReady":        dependency,
	}
	word := "Ready " + statusOf(typeName(fields["wantConditionStatus"]))
	return testCase{Object: eventingObject("Trigger", conditions), Word: word}
}

// The Broker that a case of the test marks.
func broker(fields map[string]ast.Expr) testCase {
	resolved := "True"
	if fields["markDLSResolved"] != nil && typeName(fields["markDLSResolved"]) != "nil" {
		resolved = pointed(fields["markDLSResolved"])
	}
	conditions := map[string]string{
		"IngressReady":           pointed(fields["markIngressReady"]),
		"TriggerChannelReady":    pointed(fields["markTriggerChannelReady"]),
		"FilterReady":            pointed(fields["markFilterReady"]),
		"DeadLetterSinkResolved": resolved,
		"EventPoliciesReady":     pointed(fields["markEventPolicyReady"]),
		"Addressable":            "True",
	}
	hasAddress := fields["address"] != nil && typeName(fields["address"]) != "nil"
	if !hasAddress {
		conditions["Addressable"] = "False"
	}
	object := eventingObject("Broker", conditions)
	if hasAddress {
		status, _ := object["status"].(map[string]any)
		status["address"] = map[string]any{"url": "http://hostname"}
	}
	word := map[bool]string{true: "ready", false: "not ready"}[isTrue(fields["wantReady"])]
	return testCase{Object: object, Word: word}
}

// An object with conditions, and with Ready as Knative derives it: False if one is False, else Unknown if one is Unknown.
func eventingObject(kind string, conditions map[string]string) map[string]any {
	ready := "True"
	list := []any{}
	var types []string
	for name := range conditions {
		types = append(types, name)
	}
	sort.Strings(types)
	for _, name := range types {
		status := conditions[name]
		list = append(list, map[string]any{"type": name, "status": status})
		if status == "False" || status == "Unknown" && ready == "True" {
			ready = status
		}
	}
	list = append(list, map[string]any{"type": "Ready", "status": ready})
	return map[string]any{
		"apiVersion": "eventing.knative.dev/v1", "kind": kind, "status": map[string]any{"conditions": list},
	}
}

// The status in the name of a constant or of a function of the test, for example of `ReadyBrokerStatus`. Without a name, the
// test marks the condition as failed.
func statusOf(name string) string {
	switch {
	case strings.Contains(name, "Unknown"):
		return "Unknown"
	case strings.Contains(name, "Ready"), strings.Contains(name, "True"):
		return "True"
	}
	return "False"
}

func calledName(expression ast.Expr) string {
	if call, ok := expression.(*ast.CallExpr); ok {
		return typeName(call.Fun)
	}
	return ""
}

func isTrue(expression ast.Expr) bool {
	return typeName(expression) == "true"
}

func marked(expression ast.Expr) string {
	return map[bool]string{true: "True", false: "False"}[isTrue(expression)]
}

// The status of `&trueVal` and `&falseVal`. Without a value, the test leaves the condition as it is at the start.
func pointed(expression ast.Expr) string {
	pointer, ok := expression.(*ast.UnaryExpr)
	switch {
	case !ok:
		return "Unknown"
	case typeName(pointer.X) == "trueVal":
		return "True"
	}
	return "False"
}

// Reads Ginkgo's tables whose entries have one value of an object and a result that is true or false.
func outcomes(table table, yes, no string) func(*reader, string) []testCase {
	return func(reader *reader, file string) []testCase {
		var cases []testCase
		ast.Inspect(reader.parse(file), func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 || text(call.Args[0]) != table.function {
				return true
			}
			for number, argument := range call.Args[1:] {
				entry, ok := argument.(*ast.CallExpr)
				if !ok || typeName(entry.Fun) != "Entry" || len(entry.Args) != 3 {
					continue
				}
				value, err := reader.value(entry.Args[1], nil)
				if err != nil {
					notRead(table.function, err)
					continue
				}
				object := nested(table.under, value)
				object["apiVersion"], object["kind"] = table.apiVersion, table.kind
				word := map[bool]string{true: yes, false: no}[isTrue(entry.Args[2])]
				cases = append(cases, testCase{ID: fmt.Sprintf("%s/%d", table.function, number), Object: object, Word: word})
			}
			return false
		})
		return cases
	}
}

// The result of a field that is a function of an identifier.
func called(reader *reader, value any) (any, error) {
	function, ok := value.(closure)
	if !ok {
		return nil, fmt.Errorf("no function")
	}
	return reader.enter(function, []any{"example"})
}

// The status of a Shoot, and whether the tool calls a ready one healthy.
func shootWord(_ *reader, fields map[string]ast.Expr) (string, error) {
	word := strings.TrimPrefix(typeName(fields["wantStatus"]), "Status")
	if word == "Ready" {
		word += map[bool]string{true: " healthy", false: " unhealthy"}[isTrue(fields["wantHealth"])]
	}
	return word, nil
}

// The status of an expected condition. A condition of another generation than the object's has no word: it is the tool's
// earlier answer.
func currentCondition(field, object string) word {
	return func(reader *reader, fields map[string]ast.Expr) (string, error) {
		value, err := reader.value(fields[field], nil)
		condition, _ := value.(map[string]any)
		of, other := reader.value(fields[object], nil)
		holder, _ := of.(map[string]any)
		generation := member(holder, "Generation")
		if err != nil || other != nil || generation != nil && !same(generation, condition["observedGeneration"]) {
			return "", err
		}
		return fmt.Sprint(condition["status"]), nil
	}
}

var (
	sortedCall = regexp.MustCompile(`statusSortHelper\(`)
	sortedAs   = regexp.MustCompile(`^\s*\)?,?\s*\)\s*\.toEqual\((\d)\)`)
	indicator  = regexp.MustCompile(`<KubeStatusIndicator ([^>]*)/>`)
	shownText  = regexp.MustCompile(`getByText\("([^"]+)"\)`)
)

// Reads Weave GitOps' tests of indicators: objects of Flux with the rank or the text that the page shows for them.
func indicators(reader *reader, file string) []testCase {
	text := source(reader, file)
	script := &script{text: text, names: map[string]any{}}
	var cases []testCase
	for number, found := range sortedCall.FindAllStringIndex(text, -1) {
		script.at = found[1]
		value, err := script.value()
		rank := sortedAs.FindStringSubmatch(text[script.at:])
		members, ok := value.(map[string]any)
		if err != nil || rank == nil || !ok {
			continue
		}
		id := fmt.Sprintf("statusSortHelper/%d", number+1)
		cases = append(cases, testCase{ID: id, Object: kustomization(members), Word: "rank " + rank[1]})
	}
	for _, test := range strings.Split(text, "it(\"")[1:] {
		shown, properties := shownText.FindStringSubmatch(test), indicator.FindStringSubmatch(test)
		script.names = map[string]any{}
		script.declare(test, len(test))
		conditions, ok := script.names["conditions"].([]any)
		if shown == nil || properties == nil || !ok {
			continue
		}
		members := map[string]any{"conditions": conditions, "suspended": strings.Contains(properties[1], "suspended")}
		id := "KubeStatusIndicator/" + test[:strings.Index(test, `"`)]
		cases = append(cases, testCase{ID: id, Object: kustomization(members), Word: shown[1]})
	}
	return cases
}

// A Kustomization of Flux with the conditions of a row of the page.
func kustomization(row map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "kustomize.toolkit.fluxcd.io/v1", "kind": "Kustomization",
		"spec":   map[string]any{"suspend": row["suspended"]},
		"status": map[string]any{"conditions": row["conditions"]},
	}
}
