// Answers for each status on standard input what an API server with the CRDs in the files of the arguments has against it.
//
// A line has {"apiVersion", "kind", "status"}, its answer {"refused", "unknown"}: errors, none for a status that is stored,
// and paths of fields that the schema does not have; null for a kind without a CRD. As for an update of the status subresource (statusStrategy in pkg/registry/customresource), nulls
// are pruned and defaults are set, unknown fields are dropped, then schema, lists and CEL rules are checked. An API server
// tolerates what an object had before; here every status is judged as a new one.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type kind struct {
	status    *schema.Structural
	validator validation.SchemaValidator
	rules     *cel.Validator
}

type answer struct {
	Refused []string `json:"refused"`
	Unknown []string `json:"unknown"`
}

func main() {
	kinds := map[string]kind{}
	for _, file := range os.Args[1:] {
		if err := add(kinds, file); err != nil {
			log.Fatalf("%s: %v", file, err)
		}
	}
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<26)
	for input.Scan() {
		var asked struct {
			APIVersion, Kind string
			Status           json.RawMessage
		}
		var status any
		if err := json.Unmarshal(input.Bytes(), &asked); err != nil {
			log.Fatal(err)
		}
		if err := utiljson.Unmarshal(asked.Status, &status); err != nil {
			log.Fatal(err)
		}
		var answer *answer
		if known, found := kinds[asked.APIVersion+" "+asked.Kind]; found {
			answer = known.judge(status)
		}
		if err := json.NewEncoder(output).Encode(answer); err != nil {
			log.Fatal(err)
		}
	}
	if err := input.Err(); err != nil {
		log.Fatal(err)
	}
}

func add(kinds map[string]kind, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	for _, version := range crd.Spec.Versions {
		if version.Schema == nil || version.Subresources == nil || version.Subresources.Status == nil {
			continue
		}
		var props apiextensions.JSONSchemaProps
		if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema, &props, nil); err != nil {
			return err
		}
		described, found := props.Properties["status"]
		if !found {
			continue
		}
		status, err := schema.NewStructural(&described)
		if err != nil {
			return fmt.Errorf("%s: %w", version.Name, err)
		}
		validator, _, err := validation.NewSchemaValidator(&described)
		if err != nil {
			return fmt.Errorf("%s: %w", version.Name, err)
		}
		name := fmt.Sprintf("%s/%s %s", crd.Spec.Group, version.Name, crd.Spec.Names.Kind)
		kinds[name] = kind{status, validator, cel.NewValidator(status, false, celconfig.PerCallLimit)}
	}
	return nil
}

func (k kind) judge(status any) *answer {
	defaulting.PruneNonNullableNullsWithoutDefaults(status, k.status)
	defaulting.Default(status, k.status)
	unknown := pruning.PruneWithOptions(status, k.status, false, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	path := field.NewPath("status")
	errors := validation.ValidateCustomResource(path, status, k.validator)
	if object, isObject := status.(map[string]any); isObject {
		errors = append(errors, listtype.ValidateListSetsAndMaps(path, k.status, object)...)
	}
	if len(errors) == 0 && k.rules != nil {
		errors, _ = k.rules.Validate(context.Background(), path, k.status, status, nil, celconfig.RuntimeCELCostBudget)
	}
	found := answer{Refused: []string{}, Unknown: unknown}
	for _, each := range errors {
		found.Refused = append(found.Refused, each.Error())
	}
	return &found
}
