// The rule of the interpreter {{name}}.
package main

import (
	"encoding/json"

	"{{name}}/kindsight"
)

func init() { kindsight.Export(judge) }

func main() {}

type object struct {
	Metadata struct {
		Generation int64 `json:"generation"`
	} `json:"metadata"`
	Status struct {
		ObservedGeneration *int64      `json:"observedGeneration"`
		Conditions         []condition `json:"conditions"`
	} `json:"status"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

func judge(input kindsight.Input) (kindsight.Verdict, error) {
	var it object
	if err := json.Unmarshal(input.Object, &it); err != nil {
		return kindsight.Verdict{}, kindsight.InvalidObject(err.Error())
	}
	observed := it.Status.ObservedGeneration
	if observed != nil && *observed < it.Metadata.Generation {
		return kindsight.Verdict{State: "Pending", Reason: "Outdated", Message: "the controller has not seen the newest generation"}, nil
	}
	if stalled := it.find("Stalled"); stalled != nil && stalled.Status == "True" {
		return kindsight.Verdict{State: "Failed", Reason: stalled.Reason, Message: stalled.Message}, nil
	}
	switch ready := it.find("Ready"); {
	case ready == nil:
		return kindsight.Verdict{State: "Pending", Reason: "NoStatus", Message: "there is no condition Ready yet"}, nil
	case ready.Status == "True":
		return kindsight.Verdict{State: "Ready", Reason: ready.Reason, Message: ready.Message}, nil
	default:
		return kindsight.Verdict{State: "Pending", Reason: ready.Reason, Message: ready.Message}, nil
	}
}

// The condition of a type, or nil.
func (it object) find(name string) *condition {
	for index := range it.Status.Conditions {
		if it.Status.Conditions[index].Type == name {
			return &it.Status.Conditions[index]
		}
	}
	return nil
}
