package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Evaluates literals of a repository's source. A value is what encoding/json reads: a map, a list, a text, a number, a bool.
type reader struct {
	root      string
	files     *token.FileSet
	constants map[string]ast.Expr
	functions map[string]*ast.FuncDecl
	// The methods of the types that build objects, by type and name.
	methods map[string]map[string]*ast.FuncDecl
	// The variables of the test function that is read.
	outer scope
}

// The member with the name of a value's type. Only values with methods have it, and no object that is printed.
const typeMember = "\x00type"

// Names with values. A parameter of a function is a name with the value of the argument.
type scope map[string]any

// Fields that a struct embeds: their fields belong to the struct itself.
var embedded = map[string]bool{
	"CommonPrometheusFields":    true,
	"ConfigurationStatusFields": true,
	"RouteStatusFields":         true,
	"ServiceStatusFields":       true,
	"TaskRunStatusFields":       true,
	"PipelineRunStatusFields":   true,
	"TypeMeta":                  true,
}

// Fields of the metadata, which an object of the client library embeds.
var promoted = map[string]bool{
	"Annotations": true, "DeletionTimestamp": true, "Finalizers": true, "Generation": true, "Labels": true, "Name": true, "Namespace": true,
}

// A time for `metav1.Now()`: no rule of the catalogue reads the time.
const aTime = "2026-01-31T12:00:00Z"

// Constants of libraries, whose source is not in the folder: Kubernetes, Knative's conventions, Prometheus Operator, Flux,
// Cluster API, Tekton, Velero, Argo Workflows, Karpenter. Two are names of metadata, which no rule reads.
var elsewhere = map[string]string{
	"ConditionTrue":      "True",
	"ConditionFalse":     "False",
	"ConditionUnknown":   "Unknown",
	"ConditionReady":     "Ready",
	"ConditionSucceeded": "Succeeded",
	"Available":          "Available",
	"ReadyCondition":     "Ready",
	"AvailableCondition": "Available",

	"ClusterNameLabel":       "cluster.x-k8s.io/cluster-name",
	"ConditionSeverityInfo":  "Info",
	"ConditionSeverityError": "Error",
	"KubeadmControlPlaneControlPlaneComponentsHealthyCondition": "ControlPlaneComponentsHealthy",
	"EksaSystemNamespace":   "eksa-system",
	"GroupVersion":          "",
	"ServiceConditionReady": "Ready",
	"objectStatusDynamic":   "dynamic",
	"objectStatusStatic":    "static",

	"CertificateConditionReady":   "Ready",
	"CertificateConditionIssuing": "Issuing",

	"PipelineRunReasonSuccessful":    "Succeeded",
	"PipelineRunSpecStatusCancelled": "Cancelled",

	"RestorePhaseNew":                        "New",
	"RestorePhaseInProgress":                 "InProgress",
	"RestorePhaseWaitingForPluginOperations": "WaitingForPluginOperations",
	"RestorePhaseFinalizing":                 "Finalizing",
	"RestorePhaseCompleted":                  "Completed",
	"RestorePhasePartiallyFailed":            "PartiallyFailed",
	"RestorePhaseFailed":                     "Failed",
	"RestorePhaseFailedValidation":           "FailedValidation",
	"SchedulePhaseNew":                       "New",
	"SchedulePhaseEnabled":                   "Enabled",
	"SchedulePhaseFailedValidation":          "FailedValidation",

	"BackupPhaseNew":        "New",
	"BackupPhaseInProgress": "InProgress",
	"BackupPhaseCompleted":  "Completed",
	"BackupPhaseFailed":     "Failed",
	"BackupPhaseDeleting":   "Deleting",

	"InstallSucceededReason":                           "InstallSucceeded",
	"InstallFailedReason":                              "InstallFailed",
	"GetLastReleaseFailedReason":                       "GetLastReleaseFailed",
	"InstalledPackageStatus_STATUS_REASON_INSTALLED":   "INSTALLED",
	"InstalledPackageStatus_STATUS_REASON_FAILED":      "FAILED",
	"InstalledPackageStatus_STATUS_REASON_PENDING":     "PENDING",
	"InstalledPackageStatus_STATUS_REASON_UNSPECIFIED": "UNSPECIFIED",

	"ConditionTypeLaunched":    "Launched",
	"ConditionTypeRegistered":  "Registered",
	"ConditionTypeInitialized": "Initialized",
	"Reconciled":               "Reconciled",
	"ConditionDegraded":        "Degraded",
	"GatewayNamespace":         "gateway",
	"LabelClusterID":           "cluster-id",

	"WorkflowPending":   "Pending",
	"WorkflowRunning":   "Running",
	"WorkflowSucceeded": "Succeeded",
	"WorkflowFailed":    "Failed",
	"WorkflowError":     "Error",
}

func newReader(root string, folders []string) *reader {
	reader := &reader{
		root: root, files: token.NewFileSet(), constants: map[string]ast.Expr{}, functions: map[string]*ast.FuncDecl{},
		methods: map[string]map[string]*ast.FuncDecl{},
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(filepath.Join(root, folder))
		if err != nil {
			notRead(folder, err)
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".go") {
				reader.collect(reader.parse(filepath.Join(folder, entry.Name())))
			}
		}
	}
	return reader
}

func (reader *reader) parse(file string) *ast.File {
	parsed, err := parser.ParseFile(reader.files, filepath.Join(reader.root, file), nil, parser.SkipObjectResolution)
	if err != nil {
		notRead(file, err)
		return &ast.File{}
	}
	return parsed
}

// Keeps the constants, variables and functions of a file. Names are unique enough among the few folders of a suite.
func (reader *reader) collect(file *ast.File) {
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			if declaration.Recv == nil {
				reader.functions[declaration.Name.Name] = declaration
			} else if of := receiver(declaration); reader.methods[of] == nil {
				reader.methods[of] = map[string]*ast.FuncDecl{declaration.Name.Name: declaration}
			} else {
				reader.methods[of][declaration.Name.Name] = declaration
			}
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				if values, ok := spec.(*ast.ValueSpec); ok {
					for i, name := range values.Names {
						if i < len(values.Values) {
							reader.constants[name.Name] = values.Values[i]
						}
					}
				}
			}
		}
	}
}

func (reader *reader) value(expression ast.Expr, names scope) (any, error) {
	switch expression := expression.(type) {
	case *ast.BasicLit:
		return literal(expression)
	case *ast.ParenExpr:
		return reader.value(expression.X, names)
	case *ast.UnaryExpr:
		return reader.unary(expression, names)
	case *ast.CompositeLit:
		return reader.composite(expression, names)
	case *ast.Ident:
		return reader.name(expression.Name, names)
	case *ast.SelectorExpr:
		if holder, ok := reader.holder(expression.X, names); ok {
			return member(holder, expression.Sel.Name), nil
		}
		return reader.name(expression.Sel.Name, nil)
	case *ast.TypeAssertExpr:
		return reader.value(expression.X, names)
	case *ast.StarExpr:
		return reader.value(expression.X, names)
	case *ast.FuncLit:
		return closure{expression, names}, nil
	case *ast.IndexExpr:
		return reader.index(expression, names)
	case *ast.BinaryExpr:
		return reader.sum(expression, names)
	case *ast.CallExpr:
		return reader.call(expression, names)
	}
	return nil, fmt.Errorf("%T is no literal", expression)
}

func literal(literal *ast.BasicLit) (any, error) {
	switch literal.Kind {
	case token.STRING:
		return strconv.Unquote(literal.Value)
	case token.INT:
		return strconv.ParseInt(literal.Value, 0, 64)
	}
	return nil, fmt.Errorf("%s is no text and no whole number", literal.Value)
}

func (reader *reader) unary(expression *ast.UnaryExpr, names scope) (any, error) {
	value, err := reader.value(expression.X, names)
	if number, ok := value.(int64); ok && expression.Op == token.SUB {
		return -number, err
	}
	if expression.Op == token.NOT {
		return value != true, err
	}
	return value, err
}

// Two texts of a literal that goes over several lines.
func (reader *reader) sum(expression *ast.BinaryExpr, names scope) (any, error) {
	left, err := reader.value(expression.X, names)
	if err != nil {
		return nil, err
	}
	right, err := reader.value(expression.Y, names)
	a, isText := left.(string)
	b, areTexts := right.(string)
	if !isText || !areTexts {
		return nil, fmt.Errorf("%v and %v are no texts: %v", left, right, err)
	}
	return a + b, nil
}

func (reader *reader) name(name string, names scope) (any, error) {
	if value, ok := names[name]; ok {
		return value, nil
	}
	if value, ok := reader.outer[name]; ok {
		return value, nil
	}
	switch name {
	case "true", "false":
		return name == "true", nil
	case "nil":
		return nil, nil
	}
	if expression, ok := reader.constants[name]; ok {
		return reader.value(expression, nil)
	}
	if word, ok := elsewhere[name]; ok {
		return word, nil
	}
	return nil, fmt.Errorf("%s is unknown", name)
}

func (reader *reader) index(expression *ast.IndexExpr, names scope) (any, error) {
	from, err := reader.value(expression.X, names)
	if err != nil {
		return nil, err
	}
	key, err := reader.value(expression.Index, names)
	if members, ok := from.(map[string]any); ok && err == nil {
		return members[fmt.Sprint(key)], nil
	}
	list, isList := from.([]any)
	number, isNumber := key.(int64)
	if isList && isNumber && number >= 0 && int(number) < len(list) {
		return list[number], nil
	}
	return nil, fmt.Errorf("no member %v: %v", key, err)
}

func typeName(expression ast.Expr) string {
	switch expression := expression.(type) {
	case *ast.Ident:
		return expression.Name
	case *ast.SelectorExpr:
		return expression.Sel.Name
	case *ast.StarExpr:
		return typeName(expression.X)
	case *ast.IndexExpr:
		return typeName(expression.X)
	}
	return ""
}

// A list, a map, or a struct as its JSON.
func (reader *reader) composite(literal *ast.CompositeLit, names scope) (any, error) {
	switch typeName(literal.Type) {
	case "Time":
		return reader.time(literal, names)
	case "Duration":
		// No rule of the catalogue reads a duration.
		return nil, nil
	}
	list := []any{}
	members := map[string]any{}
	if name := typeName(literal.Type); reader.methods[name] != nil && reader.methods[name]["DeepCopy"] == nil {
		members[typeMember] = name
	}
	for _, element := range literal.Elts {
		pair, ok := element.(*ast.KeyValueExpr)
		if !ok {
			value, err := reader.value(element, names)
			if err != nil {
				return nil, err
			}
			list = append(list, value)
			continue
		}
		if err := reader.member(members, pair, names); err != nil {
			return nil, err
		}
	}
	if _, ok := literal.Type.(*ast.ArrayType); ok || len(list) > 0 || isList(literal.Type) {
		return list, nil
	}
	return members, nil
}

// The time of `metav1.Time{Time: …}`.
func (reader *reader) time(literal *ast.CompositeLit, names scope) (any, error) {
	for _, element := range literal.Elts {
		if pair, ok := element.(*ast.KeyValueExpr); ok {
			return reader.value(pair.Value, names)
		}
	}
	return aTime, nil
}

// Whether a named type is a list.
func isList(expression ast.Expr) bool {
	return typeName(expression) == "Conditions"
}

func (reader *reader) member(members map[string]any, pair *ast.KeyValueExpr, names scope) error {
	value, err := reader.value(pair.Value, names)
	if err != nil {
		return err
	}
	field, ok := pair.Key.(*ast.Ident)
	if !ok {
		key, err := reader.value(pair.Key, names)
		members[fmt.Sprint(key)] = value
		return err
	}
	inner, isStruct := value.(map[string]any)
	if isStruct && (embedded[field.Name] || embedsStatus(field, pair.Value)) {
		for key, value := range inner {
			members[key] = value
		}
		return nil
	}
	members[jsonName(field.Name)] = value
	return nil
}

// Whether a field is the status of Knative's conventions, which the status of a Kind embeds.
func embedsStatus(field *ast.Ident, value ast.Expr) bool {
	literal, ok := value.(*ast.CompositeLit)
	return ok && field.Name == "Status" && typeName(literal.Type) == "Status"
}

func jsonName(field string) string {
	switch field {
	case "ObjectMeta":
		return "metadata"
	case "APIVersion":
		return "apiVersion"
	case "V1Beta2":
		return "v1beta2"
	}
	return strings.ToLower(field[:1]) + field[1:]
}
